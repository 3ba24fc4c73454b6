/* Computes the initial values of a row; see embedding_init.h. Each value is the hash
 * of a key and a counter, so no value depends on the previous value. */
#include "comm/ps/embedding_init.h"

#include "base/hash.h"

void embedding_init_uniform(uint64_t seed, int64_t id, float range, float *ret, size_t count)
{
    static const uint64_t STEP = 0x9e3779b97f4a7c15u;
    uint64_t key = hash_mix(hash_mix(seed + STEP) ^ (uint64_t)id);
    for (size_t i = 0; i < count; i++) {
        /* 24 bits are the precision of a float. So all steps before the last multiplication are
         * exact, and every machine computes the same bits. */
        uint64_t draw = hash_mix(key + (i + 1) * STEP) >> 40;
        ret[i] = ((float)draw * 0x1.0p-23f - 1.0f) * range;
    }
}
