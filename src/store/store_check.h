/* Looking into a database that no store has open, and repairing it: `trainyard check`. Which rows
 * are damaged, and what that means, is found by opening the store (store_damage()); this file acts
 * on it. Nothing here runs on a loop, and every call blocks. */
#ifndef TRAINYARD_STORE_STORE_CHECK_H
#define TRAINYARD_STORE_STORE_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

/* SQLite's full check of the file; `fault` gets each line it prints, at most `max`. Returns how
 * many, or a negative code. */
int store_check_pages(const char *path, int max, void (*fault)(void *context, const char *text),
                      void *context, struct err *err);

/* Appends the data of the row as it is on disk. */
int store_check_show(const char *path, int64_t revision, struct buf *ret, struct err *err);

/* Declares a damaged row intact as it is now. It must belong to a known object and be its newest
 * change, and its data must be a JSON object. */
int store_check_accept(const char *path, const struct store_damaged_row *row, struct err *err);

/* Removes damaged rows in one transaction, after the data of each was written to a file
 * `directory`/REVISION. Each object is then what it was served as while the row was there. Changes
 * that are lost are not reported again. */
int store_check_remove(const char *path, const struct store_damage *damage, const char *directory,
                       struct err *err);

struct store_rebuilt {
    size_t rows;  /* read and written again */
    size_t holes; /* places where pages could not be read */
    char *kept;   /* the damaged file; the caller frees it */
};

/* Writes a new database with every row that can be read, in place of the damaged one, which is
 * kept. Rows whose checksums do not match are taken along and stay damaged. */
int store_rebuild(const char *path, struct store_rebuilt *ret, struct err *err);

#endif
