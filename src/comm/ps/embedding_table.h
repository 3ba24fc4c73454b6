/* The part of an embedding table that one server keeps: rows keyed by int64 ids. A row has its
 * values, followed by the state of its optimizer. The first push to a row creates it, as does
 * embedding_table_put(). Pulling a row that does not exist returns its initial values. Rows are
 * stored in the order of their creation and never move. Lookups of a batch use prefetching, because
 * lookups in a table larger than the caches spend nearly all their time waiting for memory. Uses no
 * socket and no file. Called by ps_store, and by ps_handler, ps_snapshot and client_local on the
 * tables of a ps_store. Used by one thread at a time. */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_TABLE_H
#define TRAINYARD_COMM_PS_EMBEDDING_TABLE_H

#include "base/cleanup.h"
#include "comm/ps/ps.h"

struct embedding_table;

/* The caller has checked the fields of `table`. Rows get memory in blocks of at most 2 MiB. The
 * table adds no block whose rows would exceed the limit of `bytes_max` bytes; 0: no limit. The
 * limit is not checked when the index grows. */
struct embedding_table *embedding_table_new(const struct ps_table *table, size_t bytes_max);
struct embedding_table *embedding_table_free(struct embedding_table *table);
DEFINE_CLEANUP(embedding_table)

const struct ps_table *embedding_table_shape(const struct embedding_table *table);
size_t embedding_table_rows(const struct embedding_table *table);   /* number of rows */
size_t embedding_table_bytes(const struct embedding_table *table);  /* memory in bytes */
size_t embedding_table_stride(const struct embedding_table *table); /* floats of a row with state */

/* Copies the values of the rows of `count` ids, without state, to ret_rows, which has room for
 * count × dimensions floats. */
void embedding_table_pull(const struct embedding_table *table, const int64_t *ids, size_t count,
                          float *ret_rows);
/* Applies the gradients of `count` ids, and creates missing rows. If an id is repeated, each of its
 * gradients is applied, in order. If new rows would exceed the memory limit or 2^32 - 2 rows,
 * applies the gradients of all other rows and fails with ERR_TOO_LARGE. */
int embedding_table_push(struct embedding_table *table, const int64_t *ids, size_t count,
                         const float *gradients, float rate, struct err *err);

/* Returns the number of rows that are contiguous in memory from row number `first` on, or 0 if the
 * table has no such row. Row numbers are counted from 0. Row `first` + i has the id (*ret_ids)[i]
 * and begins at *ret_rows + i × stride. */
size_t embedding_table_span(const struct embedding_table *table, size_t first,
                            const int64_t **ret_ids, const float **ret_rows);

/* Copies the values and the state of a row to ret_row, which has room for stride floats. A row that
 * does not exist has its initial values and state. */
void embedding_table_get(const struct embedding_table *table, int64_t id, float *ret_row);
/* Sets the values and the state of a row, and creates the row if it is missing. Fails with
 * ERR_TOO_LARGE like embedding_table_push(). Called to restore a table. */
int embedding_table_put(struct embedding_table *table, int64_t id, const float *row,
                        struct err *err);

#endif
