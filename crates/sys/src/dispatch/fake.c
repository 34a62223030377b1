/* A libdispatch for tests: it has the functions that latlas asks for, and
   counts their calls, of all processes in the file FAKE_DISPATCH_COUNTS if
   there is one. A task that is posted runs on a thread of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void (*function)(void *);
struct queue { int serial; };
struct posted { void *context; function work; };

enum { CREATED, RELEASED, SYNC, ASYNC, KINDS };
static long own[KINDS], *counts = own;

long fake_count(int kind) { return __atomic_load_n(&counts[kind], __ATOMIC_SEQ_CST); }

__attribute__((constructor)) static void share(void) {
    const char *path = getenv("FAKE_DISPATCH_COUNTS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) counts = shared;
    close(file);
}

static void count(int kind) { __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST); }

void *dispatch_queue_create(const char *label, const void *attributes) {
    if (!label || attributes || getenv("FAKE_DISPATCH_GIVES_NONE")) return NULL;
    count(CREATED);
    struct queue *queue = malloc(sizeof *queue);
    queue->serial = 1;
    return queue;
}

static struct queue shared = {1};

void *dispatch_get_global_queue(long class, unsigned long flags) {
    int known = class == 9 || class == 17 || class == 21 || class == 25 || class == 33;
    if (!known || flags || getenv("FAKE_DISPATCH_GIVES_NONE")) return NULL;
    return &shared;
}

void dispatch_release(void *queue) {
    if (queue == &shared) abort();
    count(RELEASED);
    free(queue);
}

static void *run(void *argument) {
    struct posted posted = *(struct posted *)argument;
    free(argument);
    posted.work(posted.context);
    return NULL;
}

static pthread_t elsewhere(void *context, function work) {
    struct posted *posted = malloc(sizeof *posted);
    posted->context = context;
    posted->work = work;
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, posted)) abort();
    return thread;
}

#ifndef WITHOUT_SYNC
void dispatch_sync_f(void *queue, void *context, function work) {
    if (!((struct queue *)queue)->serial) abort();
    count(SYNC);
#if defined SYNC_ELSEWHERE
    pthread_join(elsewhere(context, work), NULL);
#elif !defined SYNC_NEVER
    work(context);
#endif
}
#endif

void dispatch_async_f(void *queue, void *context, function work) {
    if (!((struct queue *)queue)->serial) abort();
    count(ASYNC);
    pthread_detach(elsewhere(context, work));
}

void *dispatch_semaphore_create(long value) {
    if (value || getenv("FAKE_DISPATCH_GIVES_NONE")) return NULL;
    count(CREATED);
    sem_t *semaphore = malloc(sizeof *semaphore);
    sem_init(semaphore, 0, 0);
    return semaphore;
}

long dispatch_semaphore_signal(void *semaphore) { return sem_post(semaphore); }

long dispatch_semaphore_wait(void *semaphore, unsigned long until) {
    if (until != ~0ul) abort();
    while (sem_wait(semaphore)) {}
    return 0;
}
