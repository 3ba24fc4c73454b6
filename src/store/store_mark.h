/* The revision of the newest acknowledged change, in a file next to the database. It is written
 * after each commit and never synced. A killed process leaves it exact, a power cut may leave it
 * older than the database, and nothing leaves it newer. So a mark beyond the end of the database
 * proves that acknowledged changes were lost, whatever happened to the database or its log. */
#ifndef TRAINYARD_STORE_STORE_MARK_H
#define TRAINYARD_STORE_STORE_MARK_H

#include <stdint.h>

/* Returns a descriptor, or -1 if the file cannot be opened. The other functions accept -1 and do
 * nothing then. */
int store_mark_open(const char *database_path);
int64_t store_mark_read(int fd); /* returns 0 if there is no mark or it is damaged */
void store_mark_write(int fd, int64_t revision);

#endif
