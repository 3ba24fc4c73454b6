/* Declarations for the files that access the database. Included by files of store/ only. */
#ifndef TRAINYARD_STORE_STORE_DISK_INTERNAL_H
#define TRAINYARD_STORE_STORE_DISK_INTERNAL_H

#include "store/store_disk.h"

/* The end of the error message for a damaged database. */
#define STORE_DISK_ADVICE                                                                          \
    "run 'trainyard check --repair' to keep what can be read, restore a copy, or move it away to " \
    "start empty"

/* Sets an error for SQLite's last failure. The message has the path of the database and the cause,
 * and STORE_DISK_ADVICE if the database is damaged. */
int store_disk_fail(const struct store_disk *disk, struct err *err);
/* Runs SQL statements that return no rows. Returns 0 or a negative error. */
int store_disk_execute(struct store_disk *disk, const char *sql, struct err *err);
/* Runs a query. Sets *ret to the number in the first column of the first row, or to 0 if there is
 * no row. */
int store_disk_query_int(struct store_disk *disk, const char *sql, int64_t *ret, struct err *err);

/* Creates the table in a new file, and upgrades an older format. Returns an error for a newer
 * format, a file of another program, or damaged pages. */
int store_format_prepare(struct store_disk *disk, struct err *err);

#endif
