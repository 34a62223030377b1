/* liblatlas_malloc.so, which `latlas trace --malloc -- CMD` loads into the command by LD_PRELOAD: records
   what the program asks of its allocator, see ../include/latlas_malloc.h. From this directory:

       cc -O2 -shared -fPIC -I ../include -o liblatlas_malloc.so latlas_malloc.c -ldl -pthread

   The functions here stand before those of the C library or another allocator, and call them. Zeroing is
   memset with 0: an allocator's own, as in calloc, is part of the call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

/* Nothing is shared with signposts of the program, which may be of another version. */
#define LATLAS_SHARED static
#define LATLAS_MALLOC_PRELOADED
#define LATLAS_NEXT(function) next_##function
static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memset)(void *, int, size_t);
static void *(*next_memset_chk)(void *, int, size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static size_t (*next_malloc_usable_size)(void *);

#include "../include/latlas_malloc.h"

/* 0: not looked for yet; 1: all are found. */
static int state;
/* The thread looks for them: dlsym allocates. */
static __thread int is_looking;

/* Memory for that, never given back. */
static _Alignas(max_align_t) char early[4096];
static size_t early_used;

static void *early_memory(size_t bytes)
{
	size_t unit = _Alignof(max_align_t);
	if (bytes > sizeof early)
		return 0;
	size_t at = __atomic_fetch_add(&early_used, (bytes + unit - 1) / unit * unit, __ATOMIC_RELAXED);
	return at <= sizeof early - bytes ? early + at : 0;
}

static int is_early(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)early < sizeof early;
}

static size_t no_size(void *memory)
{
	(void)memory;
	return 0;
}

static int is_ready(void)
{
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_ACQUIRE), 1))
		return 1;
	if (is_looking)
		return 0;
	is_looking = 1;
	Dl_info allocates, tells;
#define FIND(name) *(void **)&next_##name = dlsym(RTLD_NEXT, #name)
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	FIND(memset);
	FIND(memalign);
	FIND(aligned_alloc);
	FIND(posix_memalign);
	FIND(malloc_usable_size);
	*(void **)&next_memset_chk = dlsym(RTLD_NEXT, "__memset_chk");
	/* That of another allocator must not see this one's memory. */
	if (!next_malloc_usable_size || !dladdr(*(void **)&next_malloc, &allocates) ||
	    !dladdr(*(void **)&next_malloc_usable_size, &tells) || allocates.dli_fbase != tells.dli_fbase)
		next_malloc_usable_size = no_size;
	is_looking = 0;
	__atomic_store_n(&state, 1, __ATOMIC_RELEASE);
	return 1;
}

/* Says that it is there, without a ring: short programs have none. */
__attribute__((constructor)) static void loaded(void)
{
	is_ready();
	latlas_memory_busy = 1;
	if (environ && latlas_is_traced())
		latlas_intern("memory:loaded");
	latlas_memory_busy = 0;
}

void *malloc(size_t bytes)
{
	return is_ready() ? latlas_malloc(bytes) : early_memory(bytes);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	if (is_ready())
		return latlas_calloc(count, size);
	return __builtin_mul_overflow(count, size, &bytes) ? 0 : early_memory(bytes);
}

void *realloc(void *old, size_t bytes)
{
	if (!is_early(old))
		return is_ready() ? latlas_realloc(old, bytes) : old ? 0 : early_memory(bytes);
	size_t left = sizeof early - (size_t)((char *)old - early);
	void *memory = malloc(bytes);
	if (memory)
		memcpy(memory, old, bytes < left ? bytes : left);
	return memory;
}

void free(void *memory)
{
	if (memory && !is_early(memory) && is_ready())
		latlas_free(memory);
}

static void *aligned(void *(*next)(size_t, size_t), size_t alignment, size_t bytes)
{
	static uint32_t site;
	if (!next) {
		errno = ENOMEM;
		return 0;
	}
	uint32_t mark = latlas_memory_begin(&site, "memory:aligned_alloc", bytes);
	void *memory = next(alignment, bytes);
	latlas_memory_end(mark, memory ? bytes : 0);
	return memory;
}

void *memalign(size_t alignment, size_t bytes)
{
	return is_ready() ? aligned(next_memalign, alignment, bytes) : 0;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return is_ready() ? aligned(next_aligned_alloc, alignment, bytes) : 0;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	static uint32_t site;
	if (!is_ready() || !next_posix_memalign)
		return ENOMEM;
	uint32_t mark = latlas_memory_begin(&site, "memory:aligned_alloc", bytes);
	int error = next_posix_memalign(memory, alignment, bytes);
	latlas_memory_end(mark, error ? 0 : bytes);
	return error;
}

void *memset(void *to, int byte, size_t bytes)
{
	if (is_ready())
		return byte ? next_memset(to, byte, bytes) : latlas_zero(to, bytes);
	for (volatile char *at = to; bytes--; at++)
		*at = (char)byte;
	return to;
}

/* What a compiler makes of memset where it knows how much room there is. */
void *__memset_chk(void *to, int byte, size_t bytes, size_t room)
{
	if (bytes > room && is_ready() && next_memset_chk)
		return next_memset_chk(to, byte, bytes, room);
	if (bytes > room)
		abort();
	return memset(to, byte, bytes);
}
