/* A libdispatch for tests: it has the functions that latlas asks for, and
   counts their calls. A task that is posted runs on a thread of its own. */
#include <pthread.h>
#include <stdlib.h>

typedef void (*function)(void *);
struct queue { int serial; };
struct posted { void *context; function work; };

enum { CREATED, RELEASED, SYNC, ASYNC, KINDS };
static long counts[KINDS];

long fake_count(int kind) { return __atomic_load_n(&counts[kind], __ATOMIC_SEQ_CST); }
static void count(int kind) { __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST); }

void *dispatch_queue_create(const char *label, const void *attributes) {
    if (!label || attributes || getenv("FAKE_DISPATCH_GIVES_NONE")) return NULL;
    count(CREATED);
    struct queue *queue = malloc(sizeof *queue);
    queue->serial = 1;
    return queue;
}

void dispatch_release(void *queue) {
    count(RELEASED);
    free(queue);
}

#ifndef WITHOUT_SYNC
void dispatch_sync_f(void *queue, void *context, function work) {
    if (!((struct queue *)queue)->serial) abort();
    count(SYNC);
    work(context);
}
#endif

static void *run(void *argument) {
    struct posted posted = *(struct posted *)argument;
    free(argument);
    posted.work(posted.context);
    return NULL;
}

void dispatch_async_f(void *queue, void *context, function work) {
    if (!((struct queue *)queue)->serial) abort();
    count(ASYNC);
    struct posted *posted = malloc(sizeof *posted);
    posted->context = context;
    posted->work = work;
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, posted)) abort();
    pthread_detach(thread);
}
