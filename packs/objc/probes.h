/* The probes of the pack, a file for each family. Manual reference counting: GCC has no other. */
#import <Foundation/Foundation.h>
#include "latlas_probe.h"
#include <stdio.h>

#ifdef GNUSTEP
#define IS_GNUSTEP 1
#else
#define IS_GNUSTEP 0
#endif

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

typedef struct family {
  const latlas_probe *probes;
  size_t count;
} family;

#define FAMILY(name, ...)                               \
  static const latlas_probe probes[] = {__VA_ARGS__};   \
  const family name = {probes, sizeof probes / sizeof probes[0]};

extern const family sends, codecs, files, loops;

/* Says why a row is not available. */
static inline void *unavailable(const latlas_context *context, const char *why) {
  snprintf(context->reason, context->reason_bytes, "%s", why);
  return NULL;
}

/* One pool is inside the time of each operation, as in Ash's program. */
#if IS_GNUSTEP
#define POOL(...)                                              \
  do {                                                         \
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init]; \
    __VA_ARGS__;                                               \
    [pool release];                                            \
  } while (0)
#else
#define POOL(...)      \
  do {                 \
    @autoreleasepool { \
      __VA_ARGS__;     \
    }                  \
  } while (0)
#endif
