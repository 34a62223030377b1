#include "latlas_probe.h"
#include <stdlib.h>

static uint64_t malloc_free(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    void *block = malloc(16);
    __asm__ volatile("" : "+r"(block)); /* the compiler keeps the pair */
    free(block);
  }
  return turns;
}

LATLAS_PACK("@NAME@", "cc " __VERSION__ " " FLAGS,
            {.id = "@NAME@.malloc_free",
             .title = "malloc and free of 16 bytes",
             .operation = "One malloc of 16 bytes, and its free.",
             .run = malloc_free})
