/* The file format of a snapshot. All numbers are little-endian. The order is: struct
 * ps_snapshot_head; one struct ps_snapshot_tally per worker that has ever connected; the dense
 * values and their state; the tables; the CRC-32 of all bytes before it. A table is a struct
 * ps_snapshot_table and spans of rows. A span is the number of its rows (64 bits), their ids, and
 * the rows with their state. Included by snapshot*.c only. */
#ifndef TRAINYARD_COMM_PS_SNAPSHOT_FORMAT_H
#define TRAINYARD_COMM_PS_SNAPSHOT_FORMAT_H

#include "comm/ps/wire.h"

enum { PS_SNAPSHOT_VERSION = 1, PS_SNAPSHOT_COUNTERS = 8 };

struct ps_snapshot_head {
    char magic[4]; /* "TYPS" */
    uint32_t version;
    uint64_t shape;
    uint32_t server, servers; /* see struct ps_snapshot_owner */
    int64_t saved_ms;         /* wall clock time of the snapshot */
    uint32_t tables, tallies; /* number of tables and of tallies in the file */
    uint32_t seeded;          /* 1: the dense range has values; 0: the values are ignored */
    uint32_t unused;
    uint64_t past_totals[PS_SNAPSHOT_COUNTERS]; /* see struct ps_store_view */
    uint8_t dense[PS_WIRE_DENSE_SIZE]; /* encoded struct ps_dense_shape; total 0: no dense vector */
};
_Static_assert(sizeof(struct ps_snapshot_head) == 144, "a head has no holes");
_Static_assert((int)PS_COUNTERS <= (int)PS_SNAPSHOT_COUNTERS, "counters fit");

/* See struct ps_tally. */
struct ps_snapshot_tally {
    uint32_t worker, finished;
    uint64_t incarnation;
    uint64_t totals[PS_SNAPSHOT_COUNTERS];
};

struct ps_snapshot_table {
    uint8_t shape[PS_WIRE_TABLE_SIZE]; /* encoded struct ps_table */
    uint64_t rows;                     /* number of rows in all spans of the table */
};

#define PS_SNAPSHOT_MAGIC "TYPS"

#endif
