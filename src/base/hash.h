/* Hashes of two kinds. hash_bytes() has a secret key and is for hash tables: a client that chooses
 * the input cannot choose collisions. hash_fnv1a() and hash_mix() have no key and give the same
 * value on every machine, for values that are compared, stored or drawn from. */
#ifndef TRAINYARD_BASE_HASH_H
#define TRAINYARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t words[2];
};

void hash_key_draw(struct hash_key *key); /* draws the key from the kernel's random numbers */
uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size); /* SipHash-1-3 */

/* FNV-1a. Continues from `hash`; the first call passes HASH_FNV_START. */
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
