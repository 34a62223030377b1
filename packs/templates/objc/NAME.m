#import <Foundation/Foundation.h>
#include "latlas_probe.h"

@interface Receiver : NSObject
- (void)poke;
@end

@implementation Receiver
- (void)poke {
}
@end

static void *setup(const latlas_context *context) {
  (void)context;
  return (void *)[Receiver new];
}

static uint64_t send_poke(void *state, uint64_t turns) {
  Receiver *receiver = (Receiver *)state;
  for (uint64_t turn = 0; turn < turns; turn++) [receiver poke];
  return turns;
}

static void teardown(void *state) {
  [(Receiver *)state release];
}

LATLAS_PACK("@NAME@", "cc " __VERSION__ " " FLAGS,
            {.id = "@NAME@.send",
             .title = "message send",
             .operation = "One message without arguments to an object whose method is empty.",
             .flags = LATLAS_CORE_CLOCK,
             .setup = setup,
             .run = send_poke,
             .teardown = teardown})
