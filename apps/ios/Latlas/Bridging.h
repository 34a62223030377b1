#include "latlas.h"
