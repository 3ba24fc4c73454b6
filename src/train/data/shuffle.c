/* Implements the shuffle, which keeps the order of one epoch; see shuffle.h. */
#include "train/data/shuffle.h"

#include "base/mem.h"
#include "base/rand.h"

#include <stdlib.h>

static void draw_order(struct shuffle *shuffle, uint64_t epoch)
{
    struct rand rand;
    rand_init_keyed(&rand, shuffle->seed, epoch, shuffle->count);
    for (size_t i = 0; i < shuffle->count; i++)
        shuffle->order[i] = (uint32_t)i;
    for (size_t i = shuffle->count - 1; i > 0; i--) {
        size_t other = rand_below(&rand, i + 1);
        uint32_t kept = shuffle->order[i];
        shuffle->order[i] = shuffle->order[other];
        shuffle->order[other] = kept;
    }
    shuffle->epoch = epoch;
}

void shuffle_init(struct shuffle *shuffle, uint64_t seed, size_t count)
{
    *shuffle = (struct shuffle){
        .seed = seed, .count = count, .order = mem_calloc(count, sizeof(*shuffle->order))};
    draw_order(shuffle, 0);
}

void shuffle_release(struct shuffle *shuffle)
{
    free(shuffle->order);
    *shuffle = (struct shuffle){0};
}

size_t shuffle_at(struct shuffle *shuffle, uint64_t position)
{
    uint64_t epoch = position / shuffle->count;
    if (epoch != shuffle->epoch)
        draw_order(shuffle, epoch);
    return shuffle->order[position % shuffle->count];
}
