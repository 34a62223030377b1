/* Every function of latlas.h, as a program in C calls it. What it prints is checked by c.rs. */
#include "latlas.h"

#include <stdio.h>
#include <string.h>

static latlas_run *to_cancel;
static unsigned long calls;

static void count(void *context, uint64_t done, uint64_t planned, double elapsed_s,
                  double remaining_s) {
  unsigned long *last = context;
  if (done > *last) *last = done;
  calls += planned > 0 && elapsed_s >= 0 && remaining_s >= 0;
}

static void cancel(void *context, uint64_t done, uint64_t planned, double elapsed_s,
                   double remaining_s) {
  (void)context, (void)planned, (void)elapsed_s, (void)remaining_s;
  if (done > 0) latlas_run_cancel(to_cancel);
}

static void print(const char *what, char *string) {
  printf("%s: %s\n", what, string ? string : "NULL");
  latlas_string_free(string);
}

int main(int argc, char **argv) {
  if (argc != 2) return 9;
  char *all = latlas_rows();
  printf("rows: %s\n", all && strstr(all, "\"id\":\"cpu.add_i64\"") ? "listed" : "missing");
  latlas_string_free(all);

  const char *rows[] = {"cpu.add_i64", "sync.mutex_uncontended"};
  unsigned long visits = 0;
  latlas_request request = {.rows = rows, .row_count = 2, .budget_s = 2, .progress = count,
                            .context = &visits};
  latlas_run *run = latlas_run_new();
  print("document before", latlas_run_document(run));
  printf("measured: %d\n", latlas_run_measure(run, &request));
  printf("progress: %s\n", calls > 1 && visits > 1 ? "told" : "silent");
  printf("again: %d\n", latlas_run_measure(run, &request));
  print("error", latlas_run_error(run));
  char *document = latlas_run_document(run);
  FILE *file = fopen(argv[1], "w");
  if (!document || !file || fputs(document, file) < 0 || fclose(file) != 0) return 8;
  latlas_string_free(document);
  print("table", latlas_run_table(run, NULL, 80));
  char *kurkin = latlas_run_table(run, "kurkin", 80);
  printf("kurkin: %s\n", kurkin && strstr(kurkin, "iPhone X") ? "drawn" : "missing");
  latlas_string_free(kurkin);
  print("no such table", latlas_run_table(run, "nothing", 80));
  latlas_run_free(run);

  to_cancel = latlas_run_new();
  request.progress = cancel;
  printf("cancelled: %d\n", latlas_run_measure(to_cancel, &request));
  document = latlas_run_document(to_cancel);
  printf("partial: %s\n", document && strstr(document, "\"partial\":\"interrupted") ? "kept" : "no");
  latlas_string_free(document);
  latlas_run_free(to_cancel);

  run = latlas_run_new();
  rows[1] = "no.such_row";
  printf("refused: %d\n", latlas_run_measure(run, &request));
  print("why", latlas_run_error(run));
  print("document", latlas_run_document(run));
  latlas_run_free(run);
  printf("nothing: %d\n", latlas_run_measure(NULL, NULL));
  latlas_run_free(NULL);
  latlas_string_free(NULL);
  return 0;
}
