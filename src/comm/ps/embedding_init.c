/* The initial values of a row; see embedding_init.h. It passes a counter through the finalizer of
 * splitmix64, so that no value depends on the one before. */
#include "comm/ps/embedding_init.h"

#include "base/hash.h"

void embedding_init_uniform(uint64_t seed, int64_t id, float range, float *ret, size_t count)
{
    static const uint64_t STEP = 0x9e3779b97f4a7c15u;
    uint64_t key = hash_mix(hash_mix(seed + STEP) ^ (uint64_t)id);
    for (size_t i = 0; i < count; i++) {
        /* 24 bits, as many as a float holds: everything before the last product is exact, so that
         * every machine draws the same bits. */
        uint64_t draw = hash_mix(key + (i + 1) * STEP) >> 40;
        ret[i] = ((float)draw * 0x1.0p-23f - 1.0f) * range;
    }
}
