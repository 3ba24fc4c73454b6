/* Inspects and repairs a database that is not open in any store. Used by `trainyard check`.
 * store_open() finds the damaged rows, and store_damage() returns them. All functions block, so no
 * callback of a loop may call them. */
#ifndef TRAINYARD_STORE_STORE_CHECK_H
#define TRAINYARD_STORE_STORE_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

/* Runs SQLite's full integrity check. Calls `fault` for each problem that the check reports, at
 * most `max` times. Returns the number of these calls, or a negative error code. */
int store_check_pages(const char *path, int max, void (*fault)(void *context, const char *text),
                      void *context, struct err *err);

/* Appends the data of the row with this revision to `ret`, as it is on disk. Returns 0,
 * -ERR_NOT_FOUND if there is no such row, -ERR_TOO_LARGE if `ret` overflows, or another error. */
int store_check_show(const char *path, int64_t revision, struct buf *ret, struct err *err);

/* Writes new checksums into a damaged row, so that its present data counts as intact. The row must
 * be the newest change of a known object and no deletion, and its data must be a JSON object. */
int store_check_accept(const char *path, const struct store_damaged_row *row, struct err *err);

/* Writes the data of each row in damage->rows to the file `directory`/REVISION. Then removes these
 * rows in one transaction, and with the row of a proven deletion also the older rows of that
 * object. When the store is opened again, reads return the same objects as before, and lost changes
 * are not reported again. */
int store_check_remove(const char *path, const struct store_damage *damage, const char *directory,
                       struct err *err);

struct store_rebuilt {
    size_t rows;  /* number of rows copied to the new database */
    size_t holes; /* number of places where pages could not be read; the copy ends at 100000 */
    char *kept;   /* new name of the damaged file; the caller frees it */
};

/* Writes a new database with every row that can be read, and replaces the damaged database with it.
 * The damaged database is kept under another name. Rows with wrong checksums are copied unchanged.
 * Rows of format 1, which have no checksums, get new ones. */
int store_rebuild(const char *path, struct store_rebuilt *ret, struct err *err);

#endif
