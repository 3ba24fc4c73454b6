/* Reads a write-ahead log of SQLite frame by frame, and distinguishes a damaged log from a log
 * whose end was lost in a power failure. SQLite does not distinguish them. It uses the log up to
 * the first invalid frame and ignores the rest, even if the rest contains commits that were synced
 * and acknowledged.
 *
 * A frame is invalid if its checksum is wrong or its salt differs from the salt in the header.
 * Frames with another salt are left from an earlier use of the file. After a power failure, the
 * last transaction of a log may be incomplete, with any of its sectors missing. Every earlier
 * transaction was synced. Therefore:
 *
 * - Two or more transactions end at or after the first invalid frame: the log is damaged.
 * - At most one transaction ends at or after the first invalid frame: the log is suspect. Either a
 *   power failure interrupted the last transaction, or the transaction was acknowledged and damaged
 *   later, or the frame is left from an earlier use. The log does not show which case it is; the
 *   mark of store_mark.h does.
 * - The header is invalid, and at least one transaction ends after it: the log is damaged, because
 *   SQLite syncs the header before the first frame. If there are frames but no transaction ends,
 *   the log is suspect.
 *
 * Only store_wal_file_read() reads a file; the other functions work on memory. Format:
 * https://www.sqlite.org/fileformat2.html, section 4. */
#ifndef TRAINYARD_STORE_STORE_WAL_H
#define TRAINYARD_STORE_STORE_WAL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORE_WAL_HEADER = 32,
    STORE_WAL_FRAME_HEADER = 24,
    STORE_WAL_PAGE_MAX = 65536,
    STORE_WAL_FRAMES_MAX = 4 * 1024 * 1024, /* further frames are ignored */
};

enum store_wal_state { STORE_WAL_WHOLE, STORE_WAL_SUSPECT, STORE_WAL_DAMAGED };

struct store_wal {
    size_t page_size;     /* size in bytes of the page in each frame */
    size_t frames;        /* number of frames read so far */
    size_t bad_frame;     /* the first invalid frame, counted from 1; 0: none */
    size_t later_commits; /* number of transactions that end at or after bad_frame, with the salt of
                             the log */

    /* State of the reader: */
    bool header_valid, big_endian;
    unsigned char salt[8];
    uint32_t sum[2]; /* running checksum up to the last valid frame */
};

void store_wal_init(struct store_wal *wal, const unsigned char header[STORE_WAL_HEADER]);
/* Adds the next frame: header and page, STORE_WAL_FRAME_HEADER + page_size bytes. */
void store_wal_add(struct store_wal *wal, const unsigned char *frame);
enum store_wal_state store_wal_state(const struct store_wal *wal);

/* Continues the running checksum of the log over `size` bytes. `size` must be a multiple of 8. */
void store_wal_sum(bool big_endian, const unsigned char *data, size_t size, uint32_t sum[2]);

/* Reads the log file. A missing file and a file that is shorter than a header are treated as a log
 * without damage. A read error ends the log like the end of the file. Returns an error only if the
 * file cannot be opened. */
int store_wal_file_read(const char *path, struct store_wal *ret, struct err *err);

#endif
