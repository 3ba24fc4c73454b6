/* All-reduce in shared memory: each member sums its chunk of the data over all members, in the
 * order of ranks, and writes the sum where all members read it. Data inside of a shared memory
 * (shared_memory.h) is summed in place without a copy, unless it is small (see SMALL). Other data
 * passes through the slots of the members in pieces; one piece is copied while another is
 * summed. */
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"

#include <string.h>

enum {
    CHUNK_ALIGN = 16, /* in floats: no two members write to the same cache line */
    PIECE = TRANSPORT_SLOT_SIZE / (int)sizeof(float), /* floats */
    /* In floats. Data up to this size is copied into the slots, and every member sums all of it,
     * which saves one barrier. */
    SMALL = 4 * 1024 / (int)sizeof(float),
};

static bool shared_can(const struct collective_transports *transports, size_t count)
{
    return collective_all_shared(transports);
}

struct chunk {
    size_t first, count;
};

static struct chunk shared_chunk(const struct transport *memory, size_t count, int index)
{
    size_t members = (size_t)memory->count;
    size_t each = (count / members + CHUNK_ALIGN) / CHUNK_ALIGN * CHUNK_ALIGN;
    size_t first = (size_t)index * each, end = first + each;
    first = first < count ? first : count;
    end = end < count ? end : count;
    return (struct chunk){.first = first, .count = end - first};
}

static int shared_sum_in_place(struct transport *memory, float *const *rows, size_t count,
                               struct err *err)
{
    size_t members = (size_t)memory->count;
    struct chunk own = shared_chunk(memory, count, memory->index);
    float *chunk[TRANSPORT_HOST_MAX];
    for (size_t i = 0; i < members; i++)
        chunk[i] = rows[i] + own.first;
    reduce_rows_in_place_f32(chunk, members, own.count);
    return transport_barrier(memory, err);
}

/* Stores the addresses of float `first` in the slots that the members wrote before the previous
 * barrier. */
static void shared_slots_written(const struct transport *memory, size_t first, float **ret)
{
    for (int i = 0; i < memory->count; i++)
        ret[i] = (float *)transport_slot(memory, i, 1) + first;
}

/* Sums this member's chunk of the piece that was copied in before the previous barrier. The sum
 * goes into this member's slot, where all other members read it. */
static void shared_sum_piece(struct transport *memory, size_t count)
{
    float *rows[TRANSPORT_HOST_MAX];
    struct chunk own = shared_chunk(memory, count, memory->index);
    shared_slots_written(memory, own.first, rows);
    reduce_rows_f32(rows[memory->index], rows, (size_t)memory->count, own.count);
}

/* Copies out the piece that was summed before the previous barrier. */
static void shared_copy_out(struct transport *memory, float *data, size_t count)
{
    for (int i = 0; i < memory->count; i++) {
        struct chunk chunk = shared_chunk(memory, count, i);
        memcpy(data + chunk.first, (const float *)transport_slot(memory, i, 2) + chunk.first,
               chunk.count * sizeof(float));
    }
}

static void shared_copy_in(struct transport *memory, const float *data, size_t count)
{
    memcpy(transport_slot(memory, memory->index, 0), data, count * sizeof(float));
}

static int shared_sum_through_slots(struct transport *memory, float *data, size_t count,
                                    struct err *err)
{
    size_t here = count < PIECE ? count : PIECE, before = 0;
    shared_copy_in(memory, data, here);
    int result = transport_barrier(memory, err);
    for (size_t at = 0; result == 0 && here; at += before) {
        size_t left = count - at - here, next = left < PIECE ? left : PIECE;
        if (before)
            shared_copy_out(memory, data + at - before, before);
        shared_sum_piece(memory, here);
        if (next)
            shared_copy_in(memory, data + at + here, next);
        result = transport_barrier(memory, err);
        before = here;
        here = next;
    }
    if (result == 0)
        shared_copy_out(memory, data + count - before, before);
    return result;
}

static int shared_sum_small(struct transport *memory, float *data, size_t count, struct err *err)
{
    float *rows[TRANSPORT_HOST_MAX];
    if (count)
        shared_copy_in(memory, data, count);
    int result = transport_begin(memory, data, err);
    shared_slots_written(memory, 0, rows);
    if (result == 0)
        reduce_rows_f32(data, rows, (size_t)memory->count, count);
    return result;
}

static int shared_run(const struct collective_transports *transports,
                      const struct collective_ranks *among, float *data, size_t count,
                      struct err *err)
{
    struct transport *memory = transports->memory;
    if (count <= SMALL)
        return shared_sum_small(memory, data, count, err);
    int result = transport_begin(memory, data, err);
    if (result < 0)
        return result;
    float *const *rows = transport_rows(memory);
    return rows ? shared_sum_in_place(memory, rows, count, err)
                : shared_sum_through_slots(memory, data, count, err);
}

const struct collective_allreduce collective_allreduce_shared = {
    .name = "shared",
    .needs = "one machine for all workers",
    .can = shared_can,
    .run = shared_run,
};
