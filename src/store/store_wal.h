/* Reads a write-ahead log of SQLite frame by frame, and tells a damaged log from a log whose end
 * was lost in a power cut. SQLite does not distinguish them: it uses the log up to the first
 * invalid frame and ignores the rest, even if the rest holds commits that were synced and
 * acknowledged.
 *
 * Frames with another salt than the log's header are left from an earlier use of the file. The last
 * transaction of a log may be incomplete after a power cut, with any of its sectors written or not;
 * every transaction before it was synced. Therefore:
 *
 * - An invalid frame, followed by the ends of two transactions: damaged.
 * - An invalid frame, followed by one end or none: suspect. The last transaction was torn by a
 *   power cut, or was acknowledged and then damaged, or the frame is an old one. The log alone
 *   cannot tell; the mark of store_mark.h can.
 * - An invalid header, followed by the end of a transaction: damaged, because SQLite syncs the
 *   header before the first frame.
 *
 * Pure, except for store_wal_file_read(). Format: https://www.sqlite.org/fileformat2.html, section
 * 4. */
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
    size_t page_size;     /* bytes of the page in each frame */
    size_t frames;        /* number of frames read so far */
    size_t bad_frame;     /* the first invalid frame, counted from 1; 0: none */
    size_t later_commits; /* ends of transactions from the bad frame on, recognized by their salt */

    /* State of the format: */
    bool header_valid, big_endian;
    unsigned char salt[8];
    uint32_t sum[2]; /* running checksum up to the last valid frame */
};

void store_wal_init(struct store_wal *wal, const unsigned char header[STORE_WAL_HEADER]);
/* Adds a frame: its header and its page, STORE_WAL_FRAME_HEADER + page_size bytes. */
void store_wal_add(struct store_wal *wal, const unsigned char *frame);
enum store_wal_state store_wal_state(const struct store_wal *wal);

/* Continues the format's running checksum over `size` bytes, a multiple of 8. */
void store_wal_sum(bool big_endian, const unsigned char *data, size_t size, uint32_t sum[2]);

/* Reads the log file. A missing file counts as a whole log. */
int store_wal_file_read(const char *path, struct store_wal *ret, struct err *err);

#endif
