/* Operations on memory in the trace that `latlas trace -- ./program` records: malloc, calloc, realloc,
   free, aligned_alloc and zeroing, each with its time and size, for C11 and C++11.

       #include "latlas_malloc.h"

       void *memory = latlas_malloc(1 << 20);
       latlas_zero(memory, 1 << 20);
       latlas_free(memory);

   `latlas trace --malloc -- ./program` needs none of it: it loads liblatlas_malloc.so into the program.
   This is for programs that are linked statically, and for some places only. With LATLAS_MALLOC_REPLACE
   defined before it is included (after the system's headers), malloc, calloc, realloc and free are these.

   Recorded is what is about LATLAS_MALLOC_LEAST bytes (an environment variable) or more, else 64 KiB;
   of free, what the allocator says is usable. Below that a call takes hardly longer than its record.
   Where liblatlas_malloc.so is loaded too, that records. Not for signal handlers.

   MIT or Apache-2.0, at your option. */
#ifndef LATLAS_MALLOC_H
#define LATLAS_MALLOC_H

#include "latlas_signpost.h"
#include <stdlib.h>
#include <string.h>

/* The function that does the work. */
#ifndef LATLAS_NEXT
#define LATLAS_NEXT(function) function
#endif

#if defined(__linux__) && defined(__LP64__)

#include <errno.h>
#include <malloc.h>

#ifdef __cplusplus
extern "C" {
#endif

extern char **environ;

/* The smallest number of bytes that is recorded; 0: not looked for yet. */
LATLAS_SHARED size_t latlas_memory_least;
/* The thread is recording: what that allocates is not recorded. */
LATLAS_SHARED __thread volatile int latlas_memory_busy;

__attribute__((cold, noinline, unused)) static size_t latlas_memory_find_least(void)
{
	const char *text;
	size_t least;
	/* The loader allocates before there is an environment. */
	if (!environ)
		return SIZE_MAX;
	text = getenv("LATLAS_MALLOC_LEAST");
	least = text ? (size_t)strtoull(text, 0, 10) : 0;
	least = least ? least : 64 << 10;
#ifndef LATLAS_MALLOC_PRELOADED
	text = getenv("LD_PRELOAD");
	/* A program without a loader has no libraries. */
	if (text && strstr(text, "liblatlas_malloc.so") && getauxval(7 /* AT_BASE */))
		least = SIZE_MAX;
#endif
	__atomic_store_n(&latlas_memory_least, least, __ATOMIC_RELAXED);
	return least;
}

/* Begins an operation on so many bytes: what ends it, or 0. */
static inline uint32_t latlas_memory_begin(uint32_t *site, const char *name, size_t bytes)
{
	size_t least = __atomic_load_n(&latlas_memory_least, __ATOMIC_RELAXED);
	uint32_t mark = 0;
	int error;
	if (__builtin_expect(!least, 0))
		least = latlas_memory_find_least();
	if (__builtin_expect(bytes < least, 1) || latlas_memory_busy)
		return 0;
	error = errno;
	latlas_memory_busy = 1;
	if (latlas_is_traced()) {
		/* Destructors of a thread allocate and free after its ring was given back. */
		if (latlas_signpost_ring == LATLAS_NO_RING)
			latlas_signpost_ring = 0;
		mark = latlas_mark(site, name, LATLAS_BEGIN);
	}
	latlas_memory_busy = 0;
	errno = error;
	return mark;
}

static inline void latlas_memory_end(uint32_t mark, size_t bytes)
{
	if (__builtin_expect(mark, 0)) {
		int error = errno;
		latlas_memory_busy = 1;
		latlas_end_sized(mark, bytes);
		latlas_memory_busy = 0;
		errno = error;
	}
}

static inline void *latlas_malloc(size_t bytes)
{
	static uint32_t site;
	uint32_t mark = latlas_memory_begin(&site, "memory:malloc", bytes);
	void *memory = LATLAS_NEXT(malloc)(bytes);
	latlas_memory_end(mark, memory ? bytes : 0);
	return memory;
}

static inline void *latlas_calloc(size_t count, size_t size)
{
	static uint32_t site;
	size_t bytes;
	int is_too_large = __builtin_mul_overflow(count, size, &bytes);
	uint32_t mark = is_too_large ? 0 : latlas_memory_begin(&site, "memory:calloc", bytes);
	void *memory = LATLAS_NEXT(calloc)(count, size);
	latlas_memory_end(mark, memory ? bytes : 0);
	return memory;
}

static inline void *latlas_realloc(void *old, size_t bytes)
{
	static uint32_t site;
	size_t had = old ? LATLAS_NEXT(malloc_usable_size)(old) : 0;
	uint32_t mark = latlas_memory_begin(&site, "memory:realloc", had > bytes ? had : bytes);
	void *memory = LATLAS_NEXT(realloc)(old, bytes);
	latlas_memory_end(mark, memory ? bytes : 0);
	return memory;
}

static inline void latlas_free(void *memory)
{
	static uint32_t site;
	size_t bytes = memory ? LATLAS_NEXT(malloc_usable_size)(memory) : 0;
	uint32_t mark = latlas_memory_begin(&site, "memory:free", bytes);
	LATLAS_NEXT(free)(memory);
	latlas_memory_end(mark, bytes);
}

/* memset(memory, 0, bytes) */
static inline void *latlas_zero(void *memory, size_t bytes)
{
	static uint32_t site;
	uint32_t mark = latlas_memory_begin(&site, "memory:zeroing", bytes);
	LATLAS_NEXT(memset)(memory, 0, bytes);
	latlas_memory_end(mark, bytes);
	return memory;
}

#ifdef __cplusplus
}
#endif

#else /* another system */

static inline void *latlas_malloc(size_t bytes) { return malloc(bytes); }
static inline void *latlas_calloc(size_t count, size_t size) { return calloc(count, size); }
static inline void *latlas_realloc(void *old, size_t bytes) { return realloc(old, bytes); }
static inline void latlas_free(void *memory) { free(memory); }
static inline void *latlas_zero(void *memory, size_t bytes) { return memset(memory, 0, bytes); }

#endif

#ifdef LATLAS_MALLOC_REPLACE
#define malloc(bytes) latlas_malloc(bytes)
#define calloc(count, size) latlas_calloc(count, size)
#define realloc(old, bytes) latlas_realloc(old, bytes)
#define free(memory) latlas_free(memory)
#endif

#endif
