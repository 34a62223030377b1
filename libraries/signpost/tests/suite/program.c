/* With a number: as many stretches within another. */
#include "latlas_signpost.h"
#include <stdlib.h>
#include <sys/wait.h>

void other(void);

static void *thread(void *unused)
{
	LATLAS_SIGNPOST("in a thread");
	return unused;
}

int main(int count, char **words)
{
	int status = 0;
	pthread_t id;
	LATLAS_SPAN_BEGIN(outer, "outer");
	if (count > 1) {
		for (long k = atol(words[1]); k > 0; k--) {
			LATLAS_SPAN_BEGIN(inner, "inner");
			LATLAS_SPAN_END(inner);
		}
		LATLAS_SPAN_END(outer);
		return 0;
	}
	LATLAS_SIGNPOST("here");
	pthread_create(&id, 0, thread, 0);
	pthread_join(id, 0);
	if (fork() == 0) {
		LATLAS_SIGNPOST("in a child");
		LATLAS_SPAN_END(outer);
		exit(0);
	}
	wait(&status);
	other();
	LATLAS_SPAN_END(outer);
	return status;
}
