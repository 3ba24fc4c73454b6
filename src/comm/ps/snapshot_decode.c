/* Decodes the bytes of a snapshot; see snapshot.h. The file may be damaged: every number of
 * elements is checked against the bytes that are left before memory is allocated or read. */
#include "comm/ps/snapshot.h"
#include "comm/ps/snapshot_format.h"
#include "comm/ps/update.h"

#include <string.h>
#include <zlib.h>

struct reader {
    const uint8_t *at;
    size_t left;
};

/* Returns the next `count` pieces of `size` bytes and skips them. Returns NULL if fewer bytes
 * are left. */
static const void *decode_take(struct reader *reader, uint64_t count, size_t size)
{
    if (count > reader->left / size)
        return NULL;
    const void *piece = reader->at;
    reader->at += count * size;
    reader->left -= count * size;
    return piece;
}

static int decode_cut_error(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "it is truncated");
}

static int decode_head(struct reader *reader, const struct ps_snapshot_owner *owner,
                       struct ps_snapshot_head *ret, struct err *err)
{
    const void *bytes = decode_take(reader, 1, sizeof(*ret));
    if (!bytes)
        return decode_cut_error(err);
    memcpy(ret, bytes, sizeof(*ret));
    if (ret->version != PS_SNAPSHOT_VERSION)
        return err_set(err, ERR_UNSUPPORTED,
                       "it has version %u and this program reads version %d: use the program that "
                       "wrote it, or another directory",
                       ret->version, PS_SNAPSHOT_VERSION);
    if (ret->shape != owner->shape)
        return err_set(err, ERR_CONFLICT,
                       "it belongs to a model of another shape: start with the flags it was "
                       "written with, or with another directory");
    if (ret->server != owner->server || ret->servers != owner->servers)
        return err_set(err, ERR_CONFLICT,
                       "it belongs to ps %u of %u and this is ps %u of %u: rename the file back, "
                       "or use another directory",
                       ret->server, ret->servers, owner->server, owner->servers);
    return 0;
}

static int decode_tallies(struct reader *reader, const struct ps_snapshot_head *head,
                          struct ps_store *store, struct err *err)
{
    const uint8_t *bytes = decode_take(reader, head->tallies, sizeof(struct ps_snapshot_tally));
    if (!bytes)
        return decode_cut_error(err);
    ps_store_restore_counts(store, head->past_totals);
    for (size_t i = 0; i < head->tallies; i++) {
        struct ps_snapshot_tally record;
        memcpy(&record, bytes + i * sizeof(record), sizeof(record));
        struct ps_tally tally = {.worker = record.worker,
                                 .finished = record.finished != 0,
                                 .incarnation = record.incarnation};
        memcpy(tally.totals, record.totals, sizeof(tally.totals));
        ps_store_restore_tally(store, &tally);
    }
    return 0;
}

static int decode_dense(struct reader *reader, const struct ps_snapshot_head *head,
                        struct ps_store *store, struct err *err)
{
    struct ps_dense_shape shape;
    ps_wire_dense_decode(head->dense, &shape);
    if (shape.total == 0)
        return 0;
    if (shape.count > reader->left / sizeof(float))
        return decode_cut_error(err);
    bool seeded;
    int result = ps_store_dense_open(store, &shape, &seeded, err);
    if (result < 0)
        return result;
    size_t state = ps_update_state_count(&shape.update, shape.count);
    const void *values = decode_take(reader, shape.count, sizeof(float));
    const void *sums = values ? decode_take(reader, state, sizeof(float)) : NULL;
    if (!sums)
        return decode_cut_error(err);
    if (!head->seeded)
        return 0;
    if ((result = ps_store_dense_seed(store, values, shape.count, err)) < 0)
        return result;
    if (state)
        memcpy(ps_store_view(store).state, sums, state * sizeof(float));
    return 0;
}

static int decode_rows(struct reader *reader, struct embedding_table *table, uint64_t rows,
                       struct err *err)
{
    size_t stride = embedding_table_stride(table);
    while (rows) {
        uint64_t count;
        const void *bytes = decode_take(reader, 1, sizeof(count));
        if (!bytes)
            return decode_cut_error(err);
        memcpy(&count, bytes, sizeof(count));
        const uint8_t *ids = decode_take(reader, count, sizeof(int64_t));
        const float *values = ids ? decode_take(reader, count, stride * sizeof(float)) : NULL;
        if (!values)
            return decode_cut_error(err);
        if (count == 0 || count > rows)
            return err_set(err, ERR_BAD_REQUEST, "a table does not have its number of rows");
        for (size_t i = 0; i < count; i++) {
            int64_t id;
            memcpy(&id, ids + i * sizeof(id), sizeof(id));
            int result = embedding_table_put(table, id, values + i * stride, err);
            if (result < 0)
                return result;
        }
        rows -= count;
    }
    return 0;
}

static int decode_tables(struct reader *reader, const struct ps_snapshot_head *head,
                         struct ps_store *store, uint64_t *ret_rows, struct err *err)
{
    *ret_rows = 0;
    for (size_t i = 0; i < head->tables; i++) {
        struct ps_snapshot_table record;
        struct ps_table shape;
        const void *bytes = decode_take(reader, 1, sizeof(record));
        if (!bytes)
            return decode_cut_error(err);
        memcpy(&record, bytes, sizeof(record));
        ps_wire_table_decode(record.shape, &shape);
        int result = ps_store_table_open(store, i, &shape, err);
        if (result < 0 ||
            (result = decode_rows(reader, ps_store_table(store, i), record.rows, err)) < 0)
            return result;
        *ret_rows += record.rows;
    }
    return 0;
}

int ps_snapshot_decode(const uint8_t *data, size_t size, const struct ps_snapshot_owner *owner,
                       struct ps_store *store, struct ps_snapshot_info *ret_info, struct err *err)
{
    uint32_t crc;
    if (size < sizeof(crc) || memcmp(data, PS_SNAPSHOT_MAGIC, 4) != 0)
        return err_set(err, ERR_BAD_REQUEST, "it is not a snapshot of a parameter server");
    size -= sizeof(crc);
    memcpy(&crc, data + size, sizeof(crc));
    if (crc != (uint32_t)crc32_z(crc32(0, NULL, 0), data, size))
        return err_set(err, ERR_BAD_REQUEST, "its checksum is wrong");
    struct reader reader = {.at = data, .left = size};
    struct ps_snapshot_head head;
    struct ps_snapshot_info info = {0};
    int result = decode_head(&reader, owner, &head, err);
    if (result < 0 || (result = decode_tallies(&reader, &head, store, err)) < 0 ||
        (result = decode_dense(&reader, &head, store, err)) < 0 ||
        (result = decode_tables(&reader, &head, store, &info.rows, err)) < 0)
        return result;
    if (reader.left)
        return err_set(err, ERR_BAD_REQUEST, "it has extra bytes at the end");
    info.saved_ms = head.saved_ms;
    *ret_info = info;
    return 0;
}
