/* The run loop, and programs started by NSTask. */
#import "probes.h"
#include <unistd.h>

/* A visit ends after this long whatever happens. */
#define MOST_SECONDS 5.0

/* Arms itself again from its own callback, on the calling thread's run loop. */
@interface LatlasDelay : NSObject {
 @public
  uint64_t (*ticks)(void);
  latlas_stamp *stamps;
  uint32_t wanted, made;
  BOOL byTimer;
}
- (void)arm;
- (void)called;
@end

@implementation LatlasDelay
- (void)arm {
  stamps[made].from_ticks = ticks();
  if (byTimer) {
    [NSTimer scheduledTimerWithTimeInterval:0 target:self selector:@selector(called) userInfo:nil repeats:NO];
  } else {
    [self performSelector:@selector(called) withObject:nil afterDelay:0];
  }
}
- (void)called {
  stamps[made].to_ticks = ticks();
  made++;
  if (made < wanted) [self arm];
}
@end

static void *delay(const latlas_context *context, BOOL byTimer) {
  LatlasDelay *made = [LatlasDelay new];
  made->ticks = context->ticks;
  made->byTimer = byTimer;
  return (void *)made;
}

static void *perform(const latlas_context *context) {
  return delay(context, NO);
}

static void *timer(const latlas_context *context) {
  return delay(context, YES);
}

static void release(void *state) {
  [(id)state release];
}

static uint32_t run_loop(void *state, uint32_t operations, latlas_stamp *stamps) {
  LatlasDelay *chain = (LatlasDelay *)state;
  chain->stamps = stamps;
  chain->wanted = operations;
  chain->made = 0;
  POOL({
    NSDate *end = [NSDate dateWithTimeIntervalSinceNow:MOST_SECONDS];
    NSRunLoop *loop = [NSRunLoop currentRunLoop];
    [chain arm];
    /* runMode:beforeDate: would wait for the end after the last call: GNUstep's returns for input only. */
    while (chain->made < operations && [end timeIntervalSinceNow] > 0) {
      POOL({
        NSDate *next = [loop limitDateForMode:NSDefaultRunLoopMode];
        if (next && chain->made < operations) [loop acceptInputForMode:NSDefaultRunLoopMode beforeDate:next];
      });
    }
    [NSObject cancelPreviousPerformRequestsWithTarget:chain];
  });
  return chain->made;
}

static uint64_t spawn(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    int status = -1;
    POOL({
      NSTask *task = [[NSTask alloc] init];
      [task setLaunchPath:@"/usr/bin/false"];
      [task launch];
      [task waitUntilExit];
      status = [task terminationStatus];
      [task release];
    });
    if (status != 1) return turn;
  }
  return turns;
}

#define CHAIN "Each is armed in the callback of the one before, as in Ash's program, on the run loop of the measuring " \
              "thread, which ends after 5 s at the latest. "

#if IS_GNUSTEP
#define OF_APPLE(why) .setup = why
#define OF_GNUSTEP(before) .setup = before
static void *clamped(const latlas_context *context) {
  return unavailable(context, "GNUstep Base makes a delay of zero 0.1 ms: see objc.zero_delay/gnustep");
}
static void *polled(const latlas_context *context) {
  return unavailable(context, "GNUstep Base looks every 100 ms whether a task has ended: see objc.task_spawn/gnustep");
}
#else
#define clamped perform
#define polled NULL
#define OF_APPLE(before) .setup = before
#define OF_GNUSTEP(before) .setup = only_gnustep
static void *only_gnustep(const latlas_context *context) {
  return unavailable(context, "a row of GNUstep Base");
}
#endif
#if IS_GNUSTEP
#define TIMER_NOTE .note = "GNUstep Base makes a delay of zero 0.1 ms", .about_ns = 110000
#else
#define TIMER_NOTE .about_ns = 0
#endif

FAMILY(loops,
       {.id = "objc.zero_delay", .method = CHAIN, .stamped = run_loop, .teardown = release, OF_APPLE(clamped)},
       {.id = "objc.zero_delay/gnustep",
        .title = "zero-delay perform, which GNUstep delays",
        .operation = "One performSelector:withObject:afterDelay: of 0, from its arming in its own callback to the next call.",
        .method = CHAIN "GNUstep Base makes a delay of zero 0.1 ms.",
        .note = "GNUstep Base makes a delay of zero 0.1 ms",
        .about_ns = 110000,
        .stamped = run_loop,
        .teardown = release,
        OF_GNUSTEP(perform)},
       {.id = "event_loop.zero_delay",
        .method = CHAIN "An NSTimer.",
        TIMER_NOTE,
        .setup = timer,
        .stamped = run_loop,
        .teardown = release},
       {.id = "objc.task_spawn",
        .method = "A plain loop; that the program ended with status 1 is checked.",
        .flags = LATLAS_LONG | LATLAS_FAULTS,
        .about_ns = 5000000,
        .run = spawn,
        OF_APPLE(polled)},
       {.id = "objc.task_spawn/gnustep",
        .title = "a program started by NSTask, which GNUstep polls",
        .operation = "One NSTask created for /usr/bin/false, launched and waited for.",
        .method = "A plain loop; that the program ended with status 1 is checked. GNUstep Base looks every 100 ms whether a "
                  "task has ended.",
        .note = "GNUstep Base looks every 100 ms whether a task has ended",
        .flags = LATLAS_LONG | LATLAS_FAULTS,
        .about_ns = 100000000,
        .run = spawn,
        OF_GNUSTEP(0)})
