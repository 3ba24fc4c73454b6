/* The file format of a snapshot. All numbers are little-endian. The order is: the head; one tally
 * per worker; the dense values and their state; the tables; the CRC-32 of all bytes before it. A
 * table is a head and spans of rows. A span is a count, the ids and the rows. Included by
 * snapshot*.c only. */
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
    uint8_t dense[PS_WIRE_DENSE_SIZE]; /* encoded struct ps_dense_shape; total 0: no dense vector */
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
