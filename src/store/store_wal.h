/* Reads a write-ahead log of SQLite, frame by frame, and tells a log that was damaged from one
 * whose end was lost with the power. SQLite does not: it uses the log up to the first frame that is
 * not valid and ignores the rest, also where the rest holds commits that were synced and
 * acknowledged.
 *
 * Frames with another salt than the log's header are left from an earlier use of the file. The last
 * transaction of a log may be incomplete after a power cut, with any of its sectors written or not;
 * every transaction before it was synced. Therefore:
 *
 * - a frame that is not valid, and from there on the ends of two transactions: damaged.
 * - a frame that is not valid, and from there on one end or none: suspect. The last transaction was
 *   torn by a power cut, was acknowledged and then damaged, or the frame is an old one. The log
 *   alone cannot tell; the mark of store_mark.h can.
 * - a header that is not valid, with the end of a transaction behind it: damaged, because SQLite
 *   syncs the header before the first frame.
 *
 * Pure, except for store_wal_file_read(). Format: https://www.sqlite.org/fileformat2.html, 4. */
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
    STORE_WAL_FRAMES_MAX = 4 * 1024 * 1024, /* frames behind these are not looked at */
};

enum store_wal_state { STORE_WAL_WHOLE, STORE_WAL_SUSPECT, STORE_WAL_DAMAGED };

struct store_wal {
    size_t page_size;     /* of each frame that follows */
    size_t frames;        /* read so far */
    size_t bad_frame;     /* the first one that is not valid, counted from 1; 0: none */
    size_t later_commits; /* ends of transactions from the bad frame on, by their salt */

    /* Of the format: */
    bool header_valid, big_endian;
    unsigned char salt[8];
    uint32_t sum[2]; /* running checksum up to the last valid frame */
};

void store_wal_init(struct store_wal *wal, const unsigned char header[STORE_WAL_HEADER]);
/* `frame` is the frame's header and its page: STORE_WAL_FRAME_HEADER + page_size bytes. */
void store_wal_add(struct store_wal *wal, const unsigned char *frame);
enum store_wal_state store_wal_state(const struct store_wal *wal);

/* The running checksum of the format over `size` bytes, a multiple of 8. */
void store_wal_sum(bool big_endian, const unsigned char *data, size_t size, uint32_t sum[2]);

/* Reads the file. No such file is a whole log. */
int store_wal_file_read(const char *path, struct store_wal *ret, struct err *err);

#endif
