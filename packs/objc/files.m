/* NSData read from a file, and written to one. */
#import "probes.h"
#include <stdlib.h>

#define MIB16 (16 << 20)

typedef struct place {
  NSString *path;
  NSData *data;
} place;

static void put_away(void *state) {
  place *here = (place *)state;
  POOL({
    [[NSFileManager defaultManager] removeItemAtPath:here->path error:NULL];
    [here->path release];
    [here->data release];
  });
  free(here);
}

static void *prepared(const latlas_context *context, size_t bytes) {
  place *here = calloc(1, sizeof *here);
  unsigned char *random = malloc(bytes);
  if (!here || !random) return unavailable(context, "no memory");
  for (size_t at = 0; at < bytes; at++) random[at] = (unsigned char)rand();
  BOOL written;
  POOL({
    here->path = [[NSString alloc] initWithFormat:@"%s/data", context->directory];
    here->data = [[NSData alloc] initWithBytesNoCopy:random length:bytes freeWhenDone:YES];
    written = [here->data writeToFile:here->path atomically:NO];
  });
  if (!written) {
    put_away(here);
    return unavailable(context, "NSData can't write its file");
  }
  return here;
}

static void *small(const latlas_context *context) {
  return prepared(context, 16);
}

static void *large(const latlas_context *context) {
  return prepared(context, MIB16);
}

static uint64_t read_all(void *state, uint64_t turns) {
  place *here = (place *)state;
  for (uint64_t turn = 0; turn < turns; turn++) {
    NSUInteger bytes;
    POOL(bytes = [[NSData dataWithContentsOfFile:here->path] length]);
    if (bytes != [here->data length]) return turn;
  }
  return turns;
}

static uint64_t written(place *here, BOOL atomically, uint64_t turns) {
  for (uint64_t turn = 0; turn < turns; turn++) {
    BOOL done;
    POOL(done = [here->data writeToFile:here->path atomically:atomically]);
    if (!done) return turn;
  }
  return turns;
}

static uint64_t write_over(void *state, uint64_t turns) {
  return written((place *)state, NO, turns);
}

static uint64_t write_atomically(void *state, uint64_t turns) {
  return written((place *)state, YES, turns);
}

#define READ "dataWithContentsOfFile: of a file that was just written, so that it is in the page cache."
#define WRITE "writeToFile:atomically: to the same path each time, of random data. GNUstep does not sync the file; Apple's " \
              "Foundation of today does."
#define SMALL .setup = small, .disk_bytes = 8192, .teardown = put_away
#define LARGE .setup = large, .about_ns = 8000000, .disk_bytes = 2 * MIB16, .flags = LATLAS_LONG | LATLAS_FAULTS, \
              .teardown = put_away

/* A file that is cut and written again may wait for the disk. */
#define WAITS .about_ns = 300000, .flags = LATLAS_LONG | LATLAS_FAULTS

FAMILY(files,
       {.id = "objc.data_read/16B", .method = READ, .run = read_all, .about_ns = 20000, .flags = LATLAS_FAULTS, SMALL},
       {.id = "objc.data_read/16MiB", .method = READ, .run = read_all, LARGE},
       {.id = "objc.data_write/16B", .method = WRITE, .run = write_over, WAITS, SMALL},
       {.id = "objc.data_write/16MiB", .method = WRITE, .run = write_over, LARGE},
       {.id = "objc.data_write_atomic/16B", .method = WRITE, .run = write_atomically, WAITS, SMALL},
       {.id = "objc.data_write_atomic/16MiB", .method = WRITE, .run = write_atomically, LARGE})
