/* The bytes of a snapshot, little-endian, in this order: the head; one tally per worker; the dense
 * values and their state; per table a head and its rows, in spans of a count, ids and rows; and the
 * CRC-32 of everything before it. Included by snapshot*.c only. */
#ifndef TRAINYARD_COMM_PS_SNAPSHOT_FORMAT_H
#define TRAINYARD_COMM_PS_SNAPSHOT_FORMAT_H

#include "comm/ps/wire.h"

enum { PS_SNAPSHOT_VERSION = 1, PS_SNAPSHOT_COUNTERS = 8 };

struct ps_snapshot_head {
    char magic[4]; /* "TYPS" */
    uint32_t version;
    uint64_t shape;
    uint32_t server, servers;
    int64_t saved_ms;
    uint32_t tables, tallies, seeded, unused;
    uint64_t counted[PS_SNAPSHOT_COUNTERS];
    uint8_t dense[PS_WIRE_DENSE_SIZE]; /* total 0: none */
};
_Static_assert(sizeof(struct ps_snapshot_head) == 144, "a head has no holes");
_Static_assert((int)PS_COUNTERS <= (int)PS_SNAPSHOT_COUNTERS, "counters fit");

struct ps_snapshot_tally {
    uint32_t worker, finished;
    uint64_t life;
    uint64_t totals[PS_SNAPSHOT_COUNTERS];
};

struct ps_snapshot_table {
    uint8_t shape[PS_WIRE_TABLE_SIZE];
    uint64_t rows;
};

#define PS_SNAPSHOT_MAGIC "TYPS"

#endif
