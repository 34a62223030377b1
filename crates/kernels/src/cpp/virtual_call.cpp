// Loops of virtual calls: 16 a turn, and 32. After each call the compiler has
// to load the object's table again, since the method may have done anything.

#include "object.h"

#include <stdint.h>

#define FOUR(call) call; call; call; call
#define SIXTEEN(call) FOUR(call); FOUR(call); FOUR(call); FOUR(call)

extern "C" void latlas_virtual_call_single(uint64_t turns) {
    latlas::Object *object = latlas::object();
    for (; turns > 0; --turns) {
        SIXTEEN(object->method());
    }
}

extern "C" void latlas_virtual_call_double(uint64_t turns) {
    latlas::Object *object = latlas::object();
    for (; turns > 0; --turns) {
        SIXTEEN(object->method());
        SIXTEEN(object->method());
    }
}
