/* Inspects and repairs a database that no store has open. Used by `trainyard check`. store_open()
 * and store_damage() find the damaged rows, and these functions show, accept or remove them. All
 * functions block and must not run on a loop. */
#ifndef TRAINYARD_STORE_STORE_CHECK_H
#define TRAINYARD_STORE_STORE_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

/* Runs SQLite's full integrity check. Calls `fault` for each line of its output, at most `max`
 * times. Returns the number of lines, or a negative error code. */
int store_check_pages(const char *path, int max, void (*fault)(void *context, const char *text),
                      void *context, struct err *err);

/* Appends the data of the row to `ret`, as it is on disk. */
int store_check_show(const char *path, int64_t revision, struct buf *ret, struct err *err);

/* Marks a damaged row as intact with its present content. The row must belong to a known object and
 * be its newest change, and its data must be a JSON object. */
int store_check_accept(const char *path, const struct store_damaged_row *row, struct err *err);

/* Writes the data of each damaged row to the file `directory`/REVISION, then removes the damaged
 * rows in one transaction. Reads return the same objects as before. Lost changes are not reported
 * again. */
int store_check_remove(const char *path, const struct store_damage *damage, const char *directory,
                       struct err *err);

struct store_rebuilt {
    size_t rows;  /* number of rows copied to the new database */
    size_t holes; /* number of places where pages could not be read */
    char *kept;   /* new name of the damaged file; the caller frees it */
};

/* Writes a new database with every row that can be read. The new database replaces the damaged
 * database, which is kept under another name. Rows with wrong checksums are copied unchanged. */
int store_rebuild(const char *path, struct store_rebuilt *ret, struct err *err);

#endif
