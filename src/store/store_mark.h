/* The mark: the revision of the newest committed change, in a file next to the database. The file
 * is written after each commit, before the changes are acknowledged, and is never synced. The mark
 * is never newer than the last commit. After a power failure, it may be older. So a mark above the
 * last revision in the database proves that committed changes were lost. */
#ifndef TRAINYARD_STORE_STORE_MARK_H
#define TRAINYARD_STORE_STORE_MARK_H

#include <stdint.h>

/* Opens or creates the file. Returns a descriptor, or -1 if the file cannot be opened. The other
 * functions accept -1: store_mark_read() returns 0, and store_mark_write() does nothing. */
int store_mark_open(const char *database_path);
int64_t store_mark_read(int fd); /* returns 0 if the mark is missing or damaged */
void store_mark_write(int fd, int64_t revision);

#endif
