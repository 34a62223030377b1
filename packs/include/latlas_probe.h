/* latlas_probe.h: measure operations of your own as rows of latlas.
 *
 * A probe pack is a shared library that exports latlas_probe_pack(). `latlas run --pack FILE` measures
 * its probes in worker processes of the pack's own, with the gate and the verdicts of all other rows; only
 * these processes load the library. `latlas pack check FILE` says what is wrong with a pack.
 * See `latlas help packs`. C11 and C++20.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef LATLAS_PROBE_H
#define LATLAS_PROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this file. latlas reads the ids of a pack of another version, and measures none of its probes. */
#define LATLAS_PROBE_VERSION 1u

/* Flags of a probe. */
#define LATLAS_CORE_CLOCK 1u /* its time follows the core clock, not memory: measured in cycles */
#define LATLAS_LONG 2u       /* an operation takes more than 1 ms, or runs on several CPUs: measured as a
                                distribution, not in short samples on a quiet machine */
#define LATLAS_FAULTS 4u     /* page faults are part of the operation */

/* What setup() gets. */
typedef struct latlas_context {
  uint32_t context_bytes; /* sizeof(latlas_context) of latlas */
  uint32_t reserved;
  const char *directory;   /* for temporary files, if the probe has disk_bytes; else NULL */
  uint64_t (*ticks)(void); /* the clock of stamped() */
  char *reason;            /* where setup() writes why the probe is not available, zero-terminated */
  size_t reason_bytes;     /* size of the buffer */
} latlas_context;

/* One operation, by context->ticks() before and after it on the calling thread. */
typedef struct latlas_stamp {
  uint64_t from_ticks, to_ticks;
} latlas_stamp;

/* A probe: one row. What is left out is 0 or NULL. */
typedef struct latlas_probe {
  const char *id;        /* "group.name" or "group.name/variant", of letters, digits and _ */
  const char *title;     /* a few words for lists */
  const char *operation; /* what one operation is: a sentence */
  const char *method;    /* how it is performed, and what a reader must know of it: sentences, or NULL */
  const char *note;      /* what a reader must know with the figure: a few words, or NULL */
  const char *needs;     /* a CPU feature by the name of Rust's std::arch ("popcnt"), or NULL */
  uint32_t flags;
  uint32_t ops_per_turn; /* operations in a turn of run(); 0 means 1 */
  uint64_t bytes_per_op; /* bytes that an operation moves: the row is then in GB/s; 0: time */
  uint64_t about_ns;     /* about what an operation takes, if more than 0.1 ms; 0: less */
  uint64_t disk_bytes;   /* what it keeps in context->directory, at most */

  /* Prepares the operation; returns what the other functions get as `state`. On failure writes
     context->reason and returns NULL: the row is not available then. May be NULL. */
  void *(*setup)(const latlas_context *context);
  /* Performs `turns` turns and returns how many it performed; any other number is an error. The clock
     runs around the call. It must take twice as long for twice the turns. */
  uint64_t (*run)(void *state, uint64_t turns);
  /* In place of run(): performs up to `operations` operations and stamps each; returns how many. */
  uint32_t (*stamped)(void *state, uint32_t operations, latlas_stamp *stamps);
  /* Releases `state`. May be NULL. */
  void (*teardown)(void *state);
} latlas_probe;

/* A pack. The fields up to `probes`, and `id` at the start of each probe, are the same in all versions. */
typedef struct latlas_pack {
  uint32_t version;     /* LATLAS_PROBE_VERSION */
  uint32_t count;       /* probes */
  uint32_t probe_bytes; /* sizeof(latlas_probe) */
  uint32_t reserved;
  const char *name;           /* of the pack */
  const latlas_probe *probes; /* `count` of them */
  const char *built_with;     /* compiler and flags, for the row's notes; or NULL */
} latlas_pack;

#if defined(__GNUC__)
#define LATLAS_EXPORT __attribute__((visibility("default")))
#else
#define LATLAS_EXPORT
#endif

/* The one symbol that a pack exports. It is called once, before anything else, and does nothing but return. */
LATLAS_EXPORT const latlas_pack *latlas_probe_pack(void);

/* Defines it: LATLAS_PACK("mine", "gcc -O2", {.id = "my.row", .operation = "...", .run = run}, ...) */
#define LATLAS_PACK(pack_name, pack_built_with, ...)                                                      \
  const latlas_pack *latlas_probe_pack(void) {                                                            \
    static const latlas_probe probes[] = {__VA_ARGS__};                                                   \
    static const latlas_pack pack = {                                                                     \
        LATLAS_PROBE_VERSION, sizeof probes / sizeof probes[0], sizeof probes[0], 0, pack_name, probes,   \
        pack_built_with};                                                                                 \
    return &pack;                                                                                         \
  }

#ifdef __cplusplus
}
#endif
#endif
