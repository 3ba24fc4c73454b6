/* The mark: the revision of the newest acknowledged change, in a file next to the database. The
 * file is written after each commit and never synced. After a process is killed, the mark is exact.
 * After a power failure, it may be older than the database. It is never newer. So a mark above the
 * last revision of the database proves that acknowledged changes were lost. */
#ifndef TRAINYARD_STORE_STORE_MARK_H
#define TRAINYARD_STORE_STORE_MARK_H

#include <stdint.h>

/* Returns a descriptor, or -1 if the file cannot be opened. If `fd` is -1, the other functions do
 * nothing. */
int store_mark_open(const char *database_path);
int64_t store_mark_read(int fd); /* returns 0 if the mark is missing or damaged */
void store_mark_write(int fd, int64_t revision);

#endif
