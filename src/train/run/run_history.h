/* Reads and writes the history of a run, an append-only file with one JSON object per line. A
 * resumed run appends to the same file. The report is made from the history. Readers skip a line
 * that a crash cut off. The worker that reports for the run writes the file. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_HISTORY_H
#define TRAINYARD_TRAIN_RUN_RUN_HISTORY_H

#include "base/err.h"
#include "base/json/json.h"

#define RUN_HISTORY_FILE "history.jsonl"

struct run_history;

/* Opens the history in `directory` for appending. Creates the directory if it is missing. */
int run_history_open(const char *directory, struct run_history **ret, struct err *err);
struct run_history *run_history_close(struct run_history *history); /* NULL-safe; returns NULL */

int run_history_add(struct run_history *history, const struct json *line, struct err *err);

enum { RUN_HISTORY_MAX = 64 << 20 }; /* bytes; run_history_read() fails if the file is larger */

/* Reads all complete lines as an array, allocated in the arena. The array is empty if the file does
 * not exist. Lines that are not JSON objects are left out, and *ret_unread is their number. */
int run_history_read(struct arena *arena, const char *directory, struct json **ret_lines,
                     size_t *ret_unread, struct err *err);

#endif
