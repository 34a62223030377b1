/* Messages, reference counts and objects. */
#import "probes.h"
#import <objc/runtime.h>

#define TEN(body) \
  body;           \
  body;           \
  body;           \
  body;           \
  body;           \
  body;           \
  body;           \
  body;           \
  body;           \
  body

@interface LatlasReceiver : NSObject
- (void)poke;
@end

@implementation LatlasReceiver
- (void)poke {
}
@end

static void *receiver(const latlas_context *context) {
  (void)context;
  return (void *)[LatlasReceiver new];
}

static void release(void *state) {
  [(id)state release];
}

static uint64_t message(void *state, uint64_t turns) {
  LatlasReceiver *object = (LatlasReceiver *)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    TEN([object poke]);
  }
  return turns;
}

static uint64_t cached(void *state, uint64_t turns) {
  LatlasReceiver *object = (LatlasReceiver *)state;
  typedef void (*Poke)(id, SEL);
  volatile Poke found = (Poke)[object methodForSelector:@selector(poke)];
  Poke poke = found; /* volatile: the compiler does not know which */
  for (uint64_t turn = 0; turn < turns; turn++) {
    TEN(poke(object, @selector(poke)));
  }
  return turns;
}

static void *invocation(const latlas_context *context) {
  (void)context;
  id object = [[LatlasReceiver new] autorelease];
  NSMethodSignature *signature = [object methodSignatureForSelector:@selector(poke)];
  NSInvocation *invocation = [NSInvocation invocationWithMethodSignature:signature];
  [invocation setTarget:object];
  [invocation retainArguments];
  [invocation setSelector:@selector(poke)];
  return (void *)[invocation retain];
}

static void *invocation_in_pool(const latlas_context *context) {
  void *made;
  POOL(made = invocation(context));
  return made;
}

static uint64_t invoke(void *state, uint64_t turns) {
  NSInvocation *invocation = (NSInvocation *)state;
  for (uint64_t turn = 0; turn < turns; turn++) [invocation invoke];
  return turns;
}

static uint64_t count_by_messages(void *state, uint64_t turns) {
  id object = (id)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    [object retain];
    [object release];
  }
  return turns;
}

#if IS_GNUSTEP
#define BY_FUNCTIONS .setup = no_functions, .run = count_by_messages
static void *no_functions(const latlas_context *context) {
  return unavailable(context, "GCC's runtime has no objc_retain() and objc_release(): see objc.retain_release/messages");
}
#else
#define BY_FUNCTIONS .setup = receiver, .run = count_by_functions, .teardown = release
extern id objc_retain(id object);
extern void objc_release(id object);
static uint64_t count_by_functions(void *state, uint64_t turns) {
  for (uint64_t turn = 0; turn < turns; turn++) {
    objc_retain((id)state);
    objc_release((id)state);
  }
  return turns;
}
#endif

static uint64_t create(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    id object = [[NSObject alloc] init];
    [object release];
  }
  return turns;
}

static uint64_t pools(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) POOL();
  return turns;
}

FAMILY(sends,
       {.id = "objc.message_send",
        .method = "Ten messages a turn, as in Ash's program. With GCC the method is looked up by objc_msg_lookup() and "
                  "called through the pointer; Apple's objc_msgSend() does both.",
        .flags = LATLAS_CORE_CLOCK,
        .ops_per_turn = 10,
        .setup = receiver,
        .run = message,
        .teardown = release},
       {.id = "objc.imp_cached_send",
        .method = "Ten calls a turn, as in Ash's program.",
        .flags = LATLAS_CORE_CLOCK,
        .ops_per_turn = 10,
        .setup = receiver,
        .run = cached,
        .teardown = release},
       {.id = "objc.invocation_send",
        .method = "One invocation, prepared before, invoked in a loop.",
        .setup = invocation_in_pool,
        .run = invoke,
        .teardown = release},
       {.id = "objc.retain_release",
        .method = "A plain loop over the two functions.",
        .flags = LATLAS_CORE_CLOCK,
        BY_FUNCTIONS},
       {.id = "objc.retain_release/messages",
        .title = "retain and release by messages",
        .operation = "One retain message and one release message to an object.",
        .method = "A plain loop over the two messages to a subclass of NSObject.",
        .flags = LATLAS_CORE_CLOCK,
        .setup = receiver,
        .run = count_by_messages,
        .teardown = release},
       {.id = "objc.object_create", .method = "A plain loop.", .run = create},
       {.id = "objc.autorelease_pool",
#if IS_GNUSTEP
        .method = "A plain loop. GCC has no @autoreleasepool: an NSAutoreleasePool is created and released.",
        .note = "the pool is an NSAutoreleasePool object",
#else
        .method = "A plain loop over @autoreleasepool.",
#endif
        .run = pools})
