#include "latlas_probe.h"

extern uint64_t pingPong(void *state, uint64_t turns);

LATLAS_PACK("@NAME@", "go build",
            {.id = "@NAME@.channel",
             .title = "ping-pong over two channels",
             .operation = "One value sent to another goroutine over an unbuffered channel, and one sent back.",
             .method = "Both goroutines belong to Go's scheduler. The call from C into Go is inside the time once a sample.",
             .flags = LATLAS_FAULTS,
             .run = pingPong})
