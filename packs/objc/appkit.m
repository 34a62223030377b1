/* The pack of AppKit: the rows ui.* of latlas's catalogue. */
#import <AppKit/AppKit.h>
#import "probes.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#if IS_GNUSTEP
#define APPKIT "GNUstep GUI"
#else
#define APPKIT "Apple's AppKit"
#endif

/* The application object, which connects to the window server; once in a process. */
static const char *no_application(void) {
  static const char *why = "the window server was not reached before";
  static BOOL tried = NO;
  if (tried) return why;
  tried = YES;
#if IS_GNUSTEP
  const char *display = getenv("DISPLAY");
  if (!display || !*display) return why = "no display: set DISPLAY, or run it under xvfb-run";
#endif
  int errors = dup(2), nowhere = open("/dev/null", O_WRONLY);
  /* GNUstep's backend prints 15 lines where there is no window manager. */
  if (errors >= 0 && nowhere >= 0) dup2(nowhere, 2);
  POOL({
    @try {
      [NSApplication sharedApplication];
      why = NULL;
    } @catch (NSException *exception) {
      why = "can't connect to the window server";
    }
  });
  if (errors >= 0) dup2(errors, 2);
  close(errors);
  close(nowhere);
  return why;
}

static void *application(const latlas_context *context) {
  const char *why = no_application();
  return why ? unavailable(context, why) : (void *)NSApp;
}

static uint64_t view(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    POOL([[[NSView alloc] initWithFrame:NSMakeRect(0, 0, 100, 100)] release]);
  }
  return turns;
}

static uint64_t window(void *state, uint64_t turns) {
  (void)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    POOL({
      NSWindow *made = [[NSWindow alloc] initWithContentRect:NSMakeRect(0, 0, 100, 100)
                                                   styleMask:NSTitledWindowMask
                                                     backing:NSBackingStoreBuffered
                                                       defer:NO];
      [made setReleasedWhenClosed:NO];
      [made close];
      [made release];
    });
  }
  return turns;
}

LATLAS_PACK("appkit", APPKIT ", " COMPILER " " __VERSION__ ", -O2",
            {.id = "ui.view_create",
             .method = "initWithFrame: and release in a loop, with an autorelease pool inside the time.",
             .about_ns = 20000,
             .setup = application,
             .run = view},
            {.id = "ui.window_create",
             .method = "initWithContentRect:styleMask:backing:defer: of a titled window that is never shown, its close and "
                       "release in a loop, with an autorelease pool inside the time.",
             .flags = LATLAS_LONG | LATLAS_FAULTS,
             .about_ns = 3000000,
             .setup = application,
             .run = window})
