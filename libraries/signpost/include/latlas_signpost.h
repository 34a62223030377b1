/* Signposts of latlas for C11 and C++11: a program marks stretches and moments of its own in the
   trace that `latlas trace -- ./program` records.

       #include "latlas_signpost.h"

       LATLAS_SIGNPOST("first byte");      a moment

       LATLAS_SPAN_BEGIN(parsing, "parse"); a stretch: the first word names a variable
       ...
       LATLAS_SPAN_END(parsing);            on the thread that began it

       LATLAS_SPAN("reply");                a stretch until the end of the scope

   Names are string literals of at most 120 bytes. A program that is not traced loads one word for each
   signpost. Needs GCC or Clang with -std=gnu11 (their default is as good) or -D_DEFAULT_SOURCE, and
   nothing to link but the C library; any number of files and shared libraries may include it. Not for
   signal handlers. Systems other than 64-bit Linux and Android: all of it does nothing.

   MIT or Apache-2.0, at your option. */
#ifndef LATLAS_SIGNPOST_H
#define LATLAS_SIGNPOST_H

#include <stdint.h>

#if defined(__linux__) && defined(__LP64__)

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#error "latlas_signpost.h needs -std=gnu11 or -D_DEFAULT_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The memory's layout, version 1, in words of 64 bits: src/layout.rs describes it. */
enum {
	LATLAS_HEADER_NAMES = 8, LATLAS_HEADER_UNNAMED = 9, LATLAS_HEADER_RINGLESS = 10,
	LATLAS_HEADER_RINGS_USED = 11, LATLAS_HEADER_WORDS = 512,
	LATLAS_NAMES = 4096, LATLAS_NAME_WORDS = 16, LATLAS_NAME_BYTES = 120,
	LATLAS_RING_STATE = 0, LATLAS_RING_OWNER = 1, LATLAS_RING_HEAD = 2, LATLAS_RING_DROPPED = 3,
	LATLAS_RING_OPEN = 4, LATLAS_RING_TAIL = 8, LATLAS_RING_HEADER_WORDS = 16,
	LATLAS_FREE = 0, LATLAS_USED = 1, LATLAS_CLOSED = 2,
	LATLAS_RINGS = 1024, LATLAS_RECORDS = 1 << 15,
	LATLAS_RING_WORDS = LATLAS_RING_HEADER_WORDS + LATLAS_RECORDS * 2,
	LATLAS_RINGS_AT = LATLAS_HEADER_WORDS + LATLAS_NAMES * LATLAS_NAME_WORDS,
	LATLAS_WORDS = LATLAS_RINGS_AT + LATLAS_RINGS * LATLAS_RING_WORDS,
	LATLAS_BEGIN = 0, LATLAS_END = 1, LATLAS_MOMENT = 2
};

/* Shared by all files of the program that include this. */
#ifndef LATLAS_SHARED
#define LATLAS_SHARED __attribute__((weak, visibility("default")))
#endif

/* 0: not looked for yet; 1: not traced; 2: CLOCK_MONOTONIC_RAW; 3: the CPU's counter. */
LATLAS_SHARED uint32_t latlas_signpost_state;
LATLAS_SHARED uint64_t *latlas_signpost_memory;
LATLAS_SHARED pthread_once_t latlas_signpost_once = PTHREAD_ONCE_INIT;
LATLAS_SHARED pthread_key_t latlas_signpost_key;
/* The thread's ring; all bits set: there is none for it. */
LATLAS_SHARED __thread uint64_t *latlas_signpost_ring;
#define LATLAS_NO_RING ((uint64_t *)UINTPTR_MAX)

static inline uint64_t latlas_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void latlas_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

static inline uint64_t latlas_stamp(void)
{
#if defined(__x86_64__)
	if (__atomic_load_n(&latlas_signpost_state, __ATOMIC_RELAXED) == 3)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (__atomic_load_n(&latlas_signpost_state, __ATOMIC_RELAXED) == 3) {
		uint64_t ticks;
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	struct timespec now;
	clock_gettime(4 /* CLOCK_MONOTONIC_RAW */, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The thread ends, or the process does. */
static inline void latlas_close(void *unused)
{
	uint64_t *ring = latlas_signpost_ring;
	(void)unused;
	latlas_signpost_ring = LATLAS_NO_RING;
	if (ring && ring != LATLAS_NO_RING)
		__atomic_store_n(&ring[LATLAS_RING_STATE], LATLAS_CLOSED, __ATOMIC_RELEASE);
}
static inline void latlas_close_last(void) { latlas_close(0); }
/* A forked process has its parent's memory, and needs a ring of its own. */
static inline void latlas_forget(void) { latlas_signpost_ring = 0; }

static inline void latlas_find(void)
{
	uint32_t state = 1;
	struct stat file;
	const char *path = getauxval(23 /* AT_SECURE */) ? 0 : getenv("LATLAS_SIGNPOSTS");
	int descriptor = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	size_t bytes = (size_t)LATLAS_WORDS * 8;
	if (descriptor >= 0 && !fstat(descriptor, &file) && (uint64_t)file.st_size >= bytes) {
		void *start = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
		uint64_t *words = (uint64_t *)start;
		if (start != MAP_FAILED && !memcmp(words, "latlassp", 8) && words[1] == 1 && words[2] <= 1 &&
		    !pthread_key_create(&latlas_signpost_key, latlas_close)) {
			latlas_signpost_memory = words;
			pthread_atfork(0, 0, latlas_forget);
			atexit(latlas_close_last);
			state = 2 + (uint32_t)words[2];
		}
	}
	if (descriptor >= 0)
		close(descriptor);
	__atomic_store_n(&latlas_signpost_state, state, __ATOMIC_RELEASE);
}

static inline int latlas_is_traced(void)
{
	uint32_t state = __atomic_load_n(&latlas_signpost_state, __ATOMIC_RELAXED);
	if (__builtin_expect(state == 1, 1))
		return 0;
	if (state == 0) {
		pthread_once(&latlas_signpost_once, latlas_find);
		state = __atomic_load_n(&latlas_signpost_state, __ATOMIC_ACQUIRE);
	}
	return state != 1;
}

__attribute__((cold, noinline, unused)) static uint64_t *latlas_attach(void)
{
	uint64_t *memory = latlas_signpost_memory;
	uint64_t *used = &memory[LATLAS_HEADER_RINGS_USED], before = latlas_load(used);
	latlas_signpost_ring = LATLAS_NO_RING;
	/* The first free one: so that few are ever touched. */
	for (uint64_t index = 0; index < LATLAS_RINGS; index++) {
		uint64_t *ring = memory + LATLAS_RINGS_AT + index * LATLAS_RING_WORDS, expected = LATLAS_FREE;
		if (latlas_load(&ring[LATLAS_RING_STATE]) != LATLAS_FREE ||
		    !__atomic_compare_exchange_n(&ring[LATLAS_RING_STATE], &expected, LATLAS_USED, 0,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		while (before <= index && !__atomic_compare_exchange_n(used, &before, index + 1, 0,
								       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		latlas_store(&ring[LATLAS_RING_OWNER], (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid));
		latlas_store(&ring[LATLAS_RING_OPEN], 0);
		latlas_signpost_ring = ring;
		/* Any value but 0: the key's destructor is called then. */
		pthread_setspecific(latlas_signpost_key, ring);
		return ring;
	}
	return LATLAS_NO_RING;
}

static inline void latlas_write(uint64_t *ring, uint64_t stamp, uint64_t kind, uint32_t name)
{
	uint64_t head = latlas_load(&ring[LATLAS_RING_HEAD]);
	uint64_t *record = ring + LATLAS_RING_HEADER_WORDS + head % LATLAS_RECORDS * 2;
	latlas_store(&record[0], stamp);
	latlas_store(&record[1], (uint64_t)(name - 1) << 8 | kind);
	__atomic_store_n(&ring[LATLAS_RING_HEAD], head + 1, __ATOMIC_RELEASE);
}

/* The name's number plus 1; all bits set where the table is full. */
__attribute__((cold, noinline, unused)) static uint32_t latlas_intern(const char *name)
{
	uint64_t *memory = latlas_signpost_memory, words[LATLAS_NAME_WORDS] = {0}, *entry;
	size_t length = strlen(name);
	uint64_t taken = latlas_load(&memory[LATLAS_HEADER_NAMES]), index;
	if (length > LATLAS_NAME_BYTES) {
		length = LATLAS_NAME_BYTES;
		while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(words + 1, name, length);
	words[0] = length | (uint64_t)1 << 63;
	for (index = 0; index < taken && index < LATLAS_NAMES; index++) {
		entry = memory + LATLAS_HEADER_WORDS + index * LATLAS_NAME_WORDS;
		if (__atomic_load_n(entry, __ATOMIC_ACQUIRE) == words[0] && !memcmp(entry, words, sizeof words))
			return (uint32_t)index + 1;
	}
	if (taken >= LATLAS_NAMES)
		return UINT32_MAX;
	index = __atomic_fetch_add(&memory[LATLAS_HEADER_NAMES], 1, __ATOMIC_RELAXED);
	if (index >= LATLAS_NAMES)
		return UINT32_MAX;
	entry = memory + LATLAS_HEADER_WORDS + index * LATLAS_NAME_WORDS;
	for (int k = 1; k < LATLAS_NAME_WORDS; k++)
		latlas_store(&entry[k], words[k]);
	__atomic_store_n(entry, words[0], __ATOMIC_RELEASE);
	return (uint32_t)index + 1;
}

/* Writes a record that begins a stretch or is a moment: the name's number plus 1, or 0 if it was
   dropped. */
static inline uint32_t latlas_mark(uint32_t *site, const char *text, uint64_t kind)
{
	uint64_t *ring = latlas_signpost_ring, open, used, begins = kind == LATLAS_BEGIN;
	uint32_t name = __atomic_load_n(site, __ATOMIC_RELAXED);
	if (__builtin_expect(!name, 0)) {
		name = latlas_intern(text);
		__atomic_store_n(site, name, __ATOMIC_RELAXED);
	}
	if (__builtin_expect(name == UINT32_MAX, 0)) {
		__atomic_fetch_add(&latlas_signpost_memory[LATLAS_HEADER_UNNAMED], 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (__builtin_expect(!ring, 0))
		ring = latlas_attach();
	if (__builtin_expect(ring == LATLAS_NO_RING, 0)) {
		__atomic_fetch_add(&latlas_signpost_memory[LATLAS_HEADER_RINGLESS], 1, __ATOMIC_RELAXED);
		return 0;
	}
	open = latlas_load(&ring[LATLAS_RING_OPEN]);
	used = latlas_load(&ring[LATLAS_RING_HEAD]) - __atomic_load_n(&ring[LATLAS_RING_TAIL], __ATOMIC_ACQUIRE);
	/* An end never lacks room: its beginning takes it along. */
	if (__builtin_expect(used + open + begins >= LATLAS_RECORDS, 0)) {
		latlas_store(&ring[LATLAS_RING_DROPPED], latlas_load(&ring[LATLAS_RING_DROPPED]) + 1);
		return 0;
	}
	latlas_store(&ring[LATLAS_RING_OPEN], open + begins);
	latlas_write(ring, latlas_stamp(), kind, name);
	return name;
}

/* An end may have a number of bytes above the name, as operations on memory do. */
static inline void latlas_end_sized(uint32_t name, uint64_t bytes)
{
	uint64_t stamp, open, *ring;
	if (!name)
		return;
	stamp = latlas_stamp();
	ring = latlas_signpost_ring;
	/* None after a fork, or late in the end of the thread. */
	if (!ring || ring == LATLAS_NO_RING || !(open = latlas_load(&ring[LATLAS_RING_OPEN])))
		return;
	latlas_store(&ring[LATLAS_RING_OPEN], open - 1);
	latlas_write(ring, stamp, LATLAS_END | (bytes < (uint64_t)1 << 40 ? bytes << 24 : 0), name);
}
static inline void latlas_end(uint32_t name) { latlas_end_sized(name, 0); }

static inline void latlas_end_scope(const uint32_t *name) { latlas_end(*name); }

#ifdef __cplusplus
}
#endif

#else /* another system */

static inline int latlas_is_traced(void) { return 0; }
static inline uint32_t latlas_mark(uint32_t *site, const char *text, uint64_t kind)
{
	(void)site, (void)text, (void)kind;
	return 0;
}
static inline void latlas_end(uint32_t name) { (void)name; }
static inline void latlas_end_scope(const uint32_t *name) { (void)name; }
enum { LATLAS_BEGIN = 0, LATLAS_MOMENT = 2 };

#endif

#define LATLAS_JOIN_(a, b) a##b
#define LATLAS_JOIN(a, b) LATLAS_JOIN_(a, b)

/* Marks a moment. */
#define LATLAS_SIGNPOST(name)                                                              \
	do {                                                                               \
		static uint32_t latlas_site_;                                              \
		if (latlas_is_traced())                                                    \
			latlas_mark(&latlas_site_, "" name, LATLAS_MOMENT);                \
	} while (0)

/* Begins a stretch, and declares the variable that ends it. */
#define LATLAS_SPAN_BEGIN(variable, name)                                                  \
	static uint32_t LATLAS_JOIN(variable, _site_);                                     \
	uint32_t variable =                                                                \
		latlas_is_traced() ? latlas_mark(&LATLAS_JOIN(variable, _site_), "" name, LATLAS_BEGIN) : 0

/* Ends it, on the same thread. */
#define LATLAS_SPAN_END(variable) latlas_end(variable)

/* A stretch until the end of the scope. */
#define LATLAS_SPAN(name) LATLAS_SPAN_(LATLAS_JOIN(latlas_span_, __LINE__), name)
#define LATLAS_SPAN_(variable, name)                                                       \
	static uint32_t LATLAS_JOIN(variable, _site_);                                     \
	__attribute__((cleanup(latlas_end_scope), unused)) uint32_t variable =             \
		latlas_is_traced() ? latlas_mark(&LATLAS_JOIN(variable, _site_), "" name, LATLAS_BEGIN) : 0

#endif
