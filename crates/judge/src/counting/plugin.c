/*
 * Counts what a program does, for qemu-user: at each read of the clock one line with the virtual CPU, its instructions
 * and its system calls so far, and the host's time in ns, which tells the samples among the stretches between reads; at
 * the end those of all. Work between two reads of a harness's clock is that of a sample, on every host the same.
 *
 * Declared here and not by qemu's header, which few systems have.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_syscall_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, uint64_t, uint64_t,
                                                                     uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                                     uint64_t));
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* Of x86-64 Linux. */
enum { CLOCK_GETTIME = 228, GETTIMEOFDAY = 96 };

/* A cache line each, so that threads don't share one. */
enum { CPUS = 256, LINE = 8 };
static uint64_t instructions[CPUS * LINE], calls[CPUS * LINE];
static FILE *file;

static void executed(unsigned cpu, void *count) { instructions[cpu % CPUS * LINE] += (uintptr_t)count; }

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                   uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  unsigned at = cpu % CPUS * LINE;
  if (number == CLOCK_GETTIME || number == GETTIMEOFDAY) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(file, "T %u %llu %llu %llu\n", cpu, (unsigned long long)instructions[at], (unsigned long long)calls[at],
            now.tv_sec * 1000000000ull + now.tv_nsec);
  } else {
    calls[at]++;
  }
}

static void ended(plugin_id id, void *unused) {
  (void)id, (void)unused;
  unsigned long long all = 0, all_calls = 0;
  for (unsigned at = 0; at < CPUS * LINE; at += LINE)
    all += instructions[at], all_calls += calls[at];
  fprintf(file, "ALL %llu %llu\n", all, all_calls);
  fflush(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int count,
                                                               char **values) {
  (void)info;
  file = count && !strncmp(values[0], "out=", 4) ? fopen(values[0] + 4, "w") : NULL;
  if (!file)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
