/* All-reduce in shared memory: each member sums its chunk of the data over all members, in the
 * order of ranks, and writes the sum where all have it. Data in memory that is shared as a whole is
 * summed in place and never copied; other data passes through the members' slots piece by piece,
 * where one piece is copied while another is summed. */
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"
#include "comm/transport/shm/host_links.h"

#include <string.h>

enum {
    CHUNK_ALIGN = 16,                                /* floats: no two write one cache line */
    PIECE = TRANSPORT_SHM_SLOT / (int)sizeof(float), /* floats */
    SMALL = 4 * 1024 / (int)sizeof(float),           /* floats: added up by all, one meeting less */
};

static bool can(const struct comm_links *links, size_t count)
{
    return comm_links_all_shared(links);
}

struct chunk {
    size_t first, count;
};

static struct chunk chunk_of(const struct transport_shm *shm, size_t count, int index)
{
    size_t members = (size_t)transport_shm_count(shm);
    size_t each = (count / members + CHUNK_ALIGN) / CHUNK_ALIGN * CHUNK_ALIGN;
    size_t first = (size_t)index * each, end = first + each;
    first = first < count ? first : count;
    end = end < count ? end : count;
    return (struct chunk){.first = first, .count = end - first};
}

static int sum_in_place(struct transport_shm *shm, float *const *rows, size_t count,
                        struct err *err)
{
    size_t members = (size_t)transport_shm_count(shm);
    struct chunk own = chunk_of(shm, count, transport_shm_index(shm));
    float *chunk[HOST_MEMBERS_MAX];
    for (size_t i = 0; i < members; i++)
        chunk[i] = rows[i] + own.first;
    reduce_rows_in_place_f32(chunk, members, own.count);
    return transport_shm_meet(shm, err);
}

static void slots_last(const struct transport_shm *shm, size_t first, float **ret)
{
    for (int i = 0; i < transport_shm_count(shm); i++)
        ret[i] = (float *)transport_shm_slot_last(shm, i) + first;
}

/* What was copied in before the last meeting: the own chunk's sum, where all others will find it.
 */
static void sum_piece(struct transport_shm *shm, size_t count)
{
    float *rows[HOST_MEMBERS_MAX];
    struct chunk own = chunk_of(shm, count, transport_shm_index(shm));
    slots_last(shm, own.first, rows);
    reduce_rows_f32(rows[transport_shm_index(shm)], rows, (size_t)transport_shm_count(shm),
                    own.count);
}

/* What was summed before the last meeting. */
static void copy_out(struct transport_shm *shm, float *data, size_t count)
{
    for (int i = 0; i < transport_shm_count(shm); i++) {
        struct chunk chunk = chunk_of(shm, count, i);
        memcpy(data + chunk.first,
               (const float *)transport_shm_slot_second_last(shm, i) + chunk.first,
               chunk.count * sizeof(float));
    }
}

static void copy_in(struct transport_shm *shm, const float *data, size_t count)
{
    memcpy(transport_shm_slot(shm, transport_shm_index(shm)), data, count * sizeof(float));
}

static int sum_through_slots(struct transport_shm *shm, float *data, size_t count, struct err *err)
{
    size_t here = count < PIECE ? count : PIECE, before = 0;
    copy_in(shm, data, here);
    int result = transport_shm_meet(shm, err);
    for (size_t at = 0; result == 0 && here; at += before) {
        size_t left = count - at - here, next = left < PIECE ? left : PIECE;
        if (before)
            copy_out(shm, data + at - before, before);
        sum_piece(shm, here);
        if (next)
            copy_in(shm, data + at + here, next);
        result = transport_shm_meet(shm, err);
        before = here;
        here = next;
    }
    if (result == 0)
        copy_out(shm, data + count - before, before);
    return result;
}

static int sum_small(struct transport_shm *shm, float *data, size_t count, struct err *err)
{
    float *rows[HOST_MEMBERS_MAX];
    if (count)
        copy_in(shm, data, count);
    int result = transport_shm_begin(shm, data, err);
    slots_last(shm, 0, rows);
    if (result == 0)
        reduce_rows_f32(data, rows, (size_t)transport_shm_count(shm), count);
    return result;
}

static int run(const struct comm_links *links, const struct collective_ranks *among, float *data,
               size_t count, struct err *err)
{
    struct transport_shm *shm = links->shm;
    if (count <= SMALL)
        return sum_small(shm, data, count, err);
    int result = transport_shm_begin(shm, data, err);
    if (result < 0)
        return result;
    float *const *rows = transport_shm_rows(shm);
    return rows ? sum_in_place(shm, rows, count, err) : sum_through_slots(shm, data, count, err);
}

const struct collective_allreduce collective_allreduce_shared = {
    .name = "shared",
    .can = can,
    .run = run,
};
