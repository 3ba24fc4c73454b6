/* Broadcast, all-gather and barrier in shared memory: what members have passes through their slots
 * piece by piece; while one piece is read, the next is written. */
#include "comm/collective/collective.h"

#include <string.h>

static size_t piece_of(size_t left)
{
    return left < TRANSPORT_SHM_SLOT ? left : TRANSPORT_SHM_SLOT;
}

static void copy_in(struct transport_shm *shm, const char *data, size_t size)
{
    if (size)
        memcpy(transport_shm_slot(shm, transport_shm_index(shm)), data, size);
}

int collective_broadcast_shared(struct transport_shm *shm, int from, void *data, size_t size,
                                struct err *err)
{
    bool root = transport_shm_index(shm) == from;
    size_t here = piece_of(size);
    if (root)
        copy_in(shm, data, here);
    int result = transport_shm_begin(shm, data, err);
    for (size_t at = 0; result == 0 && here;) {
        size_t next = piece_of(size - at - here);
        if (root)
            copy_in(shm, (char *)data + at + here, next);
        else
            memcpy((char *)data + at, transport_shm_slot_last(shm, from), here);
        at += here;
        here = next;
        if (here)
            result = transport_shm_meet(shm, err);
    }
    return result;
}

int collective_allgather_shared(struct transport_shm *shm, size_t size, void *all, struct err *err)
{
    char *own = (char *)all + (size_t)transport_shm_index(shm) * size;
    size_t here = piece_of(size);
    copy_in(shm, own, here);
    int result = transport_shm_begin(shm, own, err);
    for (size_t at = 0; result == 0 && here;) {
        size_t next = piece_of(size - at - here);
        copy_in(shm, own + at + here, next);
        for (int i = 0; i < transport_shm_count(shm); i++)
            if (i != transport_shm_index(shm))
                memcpy((char *)all + (size_t)i * size + at, transport_shm_slot_last(shm, i), here);
        at += here;
        here = next;
        if (here)
            result = transport_shm_meet(shm, err);
    }
    return result;
}

int collective_barrier_shared(struct transport_shm *shm, struct err *err)
{
    return transport_shm_begin(shm, NULL, err);
}
