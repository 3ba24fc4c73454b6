/* The history of a run: an append-only file with one JSON object per line. The report is made from
 * it, also after the run was resumed many times. A last line that a crash cut off is skipped. The
 * worker that speaks for the run writes it. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_HISTORY_H
#define TRAINYARD_TRAIN_RUN_RUN_HISTORY_H

#include "base/err.h"
#include "base/json/json.h"

#define RUN_HISTORY_FILE "history.jsonl"

struct run_history;

/* Opens the history in `directory` for appending, and makes the directory. */
int run_history_open(const char *directory, struct run_history **ret, struct err *err);
struct run_history *run_history_close(struct run_history *history); /* NULL-safe; returns NULL */

int run_history_add(struct run_history *history, const struct json *line, struct err *err);

enum { RUN_HISTORY_MAX = 64 << 20 }; /* bytes */

/* Reads all complete lines as an array, allocated in the arena. A file that does not exist has
 * none. Lines that are not objects are left out and counted in ret_unread. */
int run_history_read(struct arena *arena, const char *directory, struct json **ret_lines,
                     size_t *ret_unread, struct err *err);

#endif
