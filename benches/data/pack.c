/* malloc and free of 16 bytes by a pack, as the row alloc.malloc_free/16B does it. */
#include "latlas_probe.h"
#include <pthread.h>
#include <stdlib.h>

static void *nothing(void *argument) {
  return argument;
}

/* As the row has it: glibc takes its locks once there was a second thread. */
static void *setup(const latlas_context *context) {
  static int state;
  pthread_t thread;
  (void)context;
  if (pthread_create(&thread, NULL, nothing, NULL)) return NULL;
  pthread_join(thread, NULL);
  return &state;
}

static uint64_t run(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    void *block = malloc(16);
    __asm__ volatile("" : "+r"(block)); /* the compiler keeps the pair */
    free(block);
  }
  return turns;
}

LATLAS_PACK("cost", "cc -O2", {.id = "cost.malloc_free", .flags = LATLAS_CORE_CLOCK, .setup = setup, .run = run})
