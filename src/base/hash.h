/* Hashes with and without a key. hash_bytes() uses a key. Hash tables pass a secret key, so that a
 * client that chooses the input cannot cause collisions. The checksums of the store and the row ids
 * of recommender models pass a fixed key, so that all processes compute the same hash. hash_fnv1a()
 * and hash_mix() use no key and return the same value on every machine. So their results may be
 * stored, sent to other processes or used as random seeds. */
#ifndef TRAINYARD_BASE_HASH_H
#define TRAINYARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t words[2];
};

void hash_key_draw(struct hash_key *key); /* draws the key from the kernel's random numbers */
uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size); /* SipHash-1-3 */

/* FNV-1a. `hash` is the result of the call for the preceding data, or HASH_FNV_START for the first
 * data. */
#define HASH_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_fnv1a(uint64_t hash, const void *data, size_t size);

/* The finalizer of splitmix64: a bijection in which every output bit depends on every input bit. */
static inline uint64_t hash_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

#endif
