/* The history of a run, one JSON object a line in a file that is only appended to: what its report
 * is drawn from, also after it was resumed many times. A last line that a crash cut off is passed
 * over. Written by the worker that speaks for the run. */
#ifndef TRAINYARD_TRAIN_RUN_HISTORY_H
#define TRAINYARD_TRAIN_RUN_HISTORY_H

#include "base/err.h"
#include "base/json/json.h"

#define RUN_HISTORY_FILE "history.jsonl"

struct run_history;

/* In a directory, which is made. */
int run_history_open(const char *directory, struct run_history **ret, struct err *err);
struct run_history *run_history_close(struct run_history *history); /* NULL-safe; returns NULL */

int run_history_add(struct run_history *history, const struct json *line, struct err *err);

enum { RUN_HISTORY_MAX = 64 << 20 }; /* bytes */

/* All whole lines as an array, in the arena; a missing file has none. Lines that are no objects are
 * left out and counted. */
int run_history_read(struct arena *arena, const char *directory, struct json **ret_lines,
                     size_t *ret_unread, struct err *err);

#endif
