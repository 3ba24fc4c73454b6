/* One table of rows keyed by int64 ids, as one server keeps it: a row is its values and, behind
 * them, the state of its optimizer. A row that nobody pushed to is not there: it is answered with
 * its initial values. Rows stand in the order of their making and never move; batches are looked up
 * with the memory asked ahead, because in a table that no cache holds waiting is all the cost.
 * Used by ps_store; one thread at a time; knows no socket and no file. */
#ifndef TRAINYARD_COMM_EMBEDDING_TABLE_H
#define TRAINYARD_COMM_EMBEDDING_TABLE_H

#include "base/cleanup.h"
#include "comm/ps/ps.h"

struct embedding_table;

/* `table` has been checked; `bytes_max` of memory, 0: no limit. */
struct embedding_table *embedding_table_new(const struct ps_table *table, size_t bytes_max);
struct embedding_table *embedding_table_free(struct embedding_table *table);
DEFINE_CLEANUP(embedding_table)

const struct ps_table *embedding_table_shape(const struct embedding_table *table);
size_t embedding_table_rows(const struct embedding_table *table);
size_t embedding_table_bytes(const struct embedding_table *table);  /* of memory */
size_t embedding_table_stride(const struct embedding_table *table); /* floats of a row with state */

/* ret_rows is count × dimensions. */
void embedding_table_pull(const struct embedding_table *table, const int64_t *ids, size_t count,
                          float *ret_rows);
/* An id may come several times: each is applied, in order. ERR_TOO_LARGE: rows that are there have
 * been changed, but for new ones there is no memory within the limit. */
int embedding_table_push(struct embedding_table *table, const int64_t *ids, size_t count,
                         const float *gradients, float rate, struct err *err);

/* Rows from number `first` on that lie side by side in memory, with their ids; 0 at the end. Row i
 * is at rows + i × stride. */
size_t embedding_table_span(const struct embedding_table *table, size_t first,
                            const int64_t **ret_ids, const float **ret_rows);

/* A whole row, values and state; of one that is not there, what it would begin with. */
void embedding_table_get(const struct embedding_table *table, int64_t id, float *ret_row);
/* A whole row, values and state, as a span gave it: how a table is restored. */
int embedding_table_put(struct embedding_table *table, int64_t id, const float *row,
                        struct err *err);

#endif
