/* Reads and writes the history of a run, an append-only file with one JSON object per line. A
 * resumed run appends to the same file. Readers skip a line that a crash cut off. run_log.c writes
 * the file, on the worker that writes files for the run. run_report.c makes the report from it. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_HISTORY_H
#define TRAINYARD_TRAIN_RUN_RUN_HISTORY_H

#include "base/err.h"
#include "base/json/json.h"

#define RUN_HISTORY_FILE "history.jsonl"

struct run_history;

/* Opens the history in `directory` for appending. Creates the directory and the file if they are
 * missing. Returns 0, or the error of the file system. The caller closes the history. */
int run_history_open(const char *directory, struct run_history **ret, struct err *err);
struct run_history *run_history_close(struct run_history *history); /* NULL-safe; returns NULL */

/* Appends one line with one write(). Returns 0 or an error. On failure, removes a part of the line
 * that was written. */
int run_history_add(struct run_history *history, const struct json *line, struct err *err);

enum { RUN_HISTORY_MAX = 64 << 20 }; /* bytes; run_history_read() fails if the file is larger */

/* Reads all complete lines as an array, allocated in the arena. The array is empty if the file does
 * not exist. Lines that are not JSON objects are left out, and *ret_unread is their number. Returns
 * 0, or an error if the file cannot be read or is larger than RUN_HISTORY_MAX. */
int run_history_read(struct arena *arena, const char *directory, struct json **ret_lines,
                     size_t *ret_unread, struct err *err);

/* Parses the text of a history file. Returns the same array as run_history_read(). */
struct json *run_history_parse(struct arena *arena, const char *text, size_t size,
                               size_t *ret_unread);

#endif
