/* Inspects and repairs a database that no store has open: `trainyard check`. store_open() and
 * store_damage() find the damaged rows; this file acts on them. All functions block, and none runs
 * on a loop. */
#ifndef TRAINYARD_STORE_STORE_CHECK_H
#define TRAINYARD_STORE_STORE_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

/* Runs SQLite's full integrity check. Calls `fault` for each line that it prints, at most `max`.
 * Returns the number of lines, or a negative code. */
int store_check_pages(const char *path, int max, void (*fault)(void *context, const char *text),
                      void *context, struct err *err);

/* Appends the data of the row as it is on disk to `ret`. */
int store_check_show(const char *path, int64_t revision, struct buf *ret, struct err *err);

/* Marks a damaged row as intact with its present content. The row must belong to a known object and
 * be its newest change, and its data must be a JSON object. */
int store_check_accept(const char *path, const struct store_damaged_row *row, struct err *err);

/* Removes the damaged rows in one transaction, after writing the data of each to the file
 * `directory`/REVISION. Each object stays what it was served as before. Lost changes are not
 * reported again. */
int store_check_remove(const char *path, const struct store_damage *damage, const char *directory,
                       struct err *err);

struct store_rebuilt {
    size_t rows;  /* rows copied to the new database */
    size_t holes; /* places where pages could not be read */
    char *kept;   /* name of the kept damaged file; the caller frees it */
};

/* Writes a new database with every row that can be read. The new database replaces the damaged one,
 * which is kept under another name. Rows with wrong checksums are copied and stay damaged. */
int store_rebuild(const char *path, struct store_rebuilt *ret, struct err *err);

#endif
