/* latlas in a program of its own: link liblatlas_core.a.
 *
 * Everything is measured in the calling process and on the calling thread; no process is started.
 * Strings that are returned are UTF-8 and belong to the caller: free them with latlas_string_free.
 * A panic of the library is caught and reported as LATLAS_FAILED; a crash in a measured operation
 * ends the program. */
#ifndef LATLAS_H
#define LATLAS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run: made once, measured once, freed. */
typedef struct latlas_run latlas_run;

/* What came of measuring. */
typedef enum latlas_status {
  LATLAS_DONE = 0,
  LATLAS_CANCELLED = 1, /* the document holds what was measured until then */
  LATLAS_REFUSED = 2,   /* latlas_run_error says why */
  LATLAS_FAILED = 3     /* the library panicked, a bug; latlas_run_error says so */
} latlas_status;

/* Called on the measuring thread, between samples: return soon. Times are in seconds. */
typedef void (*latlas_progress)(void *context, uint64_t visits_done, uint64_t visits_planned,
                                double elapsed_s, double remaining_s);

/* What to measure. All zero: the whole atlas, about 75 s. */
typedef struct latlas_request {
  const char *const *rows;  /* ids of rows, from latlas_rows; NULL for the whole atlas */
  size_t row_count;
  double budget_s;          /* time limit, at least 1; 0 for none */
  const char *directory;    /* for files of the rows file.* and disk.*; NULL to choose one */
  latlas_progress progress; /* NULL for none */
  void *context;            /* passed to it */
} latlas_request;

/* All rows as JSON: [{"id", "title", "operation", "group", "tables"}]; tables are the published
 * tables with the row, such as "kurkin". */
char *latlas_rows(void);

latlas_run *latlas_run_new(void);

/* Measures; returns when done. A run can be measured once. */
latlas_status latlas_run_measure(latlas_run *run, const latlas_request *request);

/* Ends measuring after the visit in progress, at most about a second. From any thread. */
void latlas_run_cancel(latlas_run *run);

/* The Run document (JSON), which `latlas import` reads. NULL if nothing was measured. */
char *latlas_run_document(const latlas_run *run);

/* The run as text of that many columns; with the key of a published table ("kurkin", "ash",
 * "2012"), that table with the run's figures. NULL if there is no run or no such table. */
char *latlas_run_table(const latlas_run *run, const char *table, size_t columns);

/* Why nothing was measured. NULL if something was. */
char *latlas_run_error(const latlas_run *run);

/* Frees; NULL is allowed. Not while latlas_run_measure runs. */
void latlas_run_free(latlas_run *run);
void latlas_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif
