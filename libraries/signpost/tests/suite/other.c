/* A second file that includes the header: the same ring, the same names. */
#include "latlas_signpost.h"

#ifdef __cplusplus
void other(void);
#endif

void other(void)
{
	LATLAS_SPAN("of the other file");
}
