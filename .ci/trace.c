/* What .ci/trace traces: threads that wake each other, processes, faults, and a known number of
   system calls and signposts. Writes its CPU time to a file, as the kernel accounts for it. */
#define _GNU_SOURCE
#include "latlas_signpost.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t ping, pong;

static void *answer(void *unused)
{
	LATLAS_SPAN("answer");
	for (int i = 0; i < 20000; i++) {
		sem_wait(&ping);
		LATLAS_SIGNPOST("answered");
		sem_post(&pong);
	}
	return unused;
}

static double cpu_s(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void work(void)
{
	pthread_t thread;
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pthread_create(&thread, 0, answer, 0);
	for (int i = 0; i < 20000; i++) {
		LATLAS_SPAN("round trip");
		sem_post(&ping);
		sem_wait(&pong);
	}
	pthread_join(thread, 0);
	for (int i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < 50; i++) {
		LATLAS_SPAN("block");
		char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int at = 0; at < 1 << 20; at += 4096)
			p[at] = 1;
		munmap(p, 1 << 20);
	}
}

int main(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	pid_t child = fork();
	if (child == 0) {
		work();
		_exit(0);
	}
	waitpid(child, 0, 0);
	FILE *file = fopen("cpu.txt", "w");
	fprintf(file, "%d %.6f\n", child, cpu_s(RUSAGE_CHILDREN));
	fclose(file);
	return 0;
}
