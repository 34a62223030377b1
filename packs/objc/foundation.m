/* The pack: the rows objc.* and event_loop.zero_delay of latlas's catalogue. */
#import "probes.h"
#include <string.h>

#if IS_GNUSTEP
#define FOUNDATION "GNUstep Base"
#else
#define FOUNDATION "Apple's Foundation"
#endif

LATLAS_EXPORT const latlas_pack *latlas_probe_pack(void) {
  static latlas_probe probes[64];
  static latlas_pack pack = {LATLAS_PROBE_VERSION, 0, sizeof probes[0], 0, "foundation", probes,
                             FOUNDATION ", " COMPILER " " __VERSION__ ", -O2"};
  const family all[] = {sends, codecs, files, loops};
  pack.count = 0;
  for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
    memcpy(probes + pack.count, all[n].probes, all[n].count * sizeof probes[0]);
    pack.count += (uint32_t)all[n].count;
  }
  return &pack;
}
