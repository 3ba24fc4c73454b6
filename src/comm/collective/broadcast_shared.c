/* Implements broadcast and all-gather in shared memory; see collective.h. Data passes through the
 * slots in pieces; members write the next piece while they read the current one. */
#include "comm/collective/collective.h"

#include <string.h>

static size_t broadcast_piece_size(size_t left)
{
    return left < TRANSPORT_SLOT_SIZE ? left : TRANSPORT_SLOT_SIZE;
}

static void broadcast_copy_in(struct transport *memory, const char *data, size_t size)
{
    if (size)
        memcpy(transport_slot(memory, memory->index, 0), data, size);
}

int collective_broadcast_shared(struct transport *memory, int from, void *data, size_t size,
                                struct err *err)
{
    bool root = memory->index == from;
    size_t here = broadcast_piece_size(size);
    if (root)
        broadcast_copy_in(memory, data, here);
    int result = transport_begin(memory, data, err);
    for (size_t at = 0; result == 0 && here;) {
        size_t next = broadcast_piece_size(size - at - here);
        if (root)
            broadcast_copy_in(memory, (char *)data + at + here, next);
        else
            memcpy((char *)data + at, transport_slot(memory, from, 1), here);
        at += here;
        here = next;
        if (here)
            result = transport_barrier(memory, err);
    }
    return result;
}

int collective_allgather_shared(struct transport *memory, size_t size, void *all, struct err *err)
{
    char *own = (char *)all + (size_t)memory->index * size;
    size_t here = broadcast_piece_size(size);
    broadcast_copy_in(memory, own, here);
    int result = transport_begin(memory, own, err);
    for (size_t at = 0; result == 0 && here;) {
        size_t next = broadcast_piece_size(size - at - here);
        broadcast_copy_in(memory, own + at + here, next);
        for (int i = 0; i < memory->count; i++)
            if (i != memory->index)
                memcpy((char *)all + (size_t)i * size + at, transport_slot(memory, i, 1), here);
        at += here;
        here = next;
        if (here)
            result = transport_barrier(memory, err);
    }
    return result;
}
