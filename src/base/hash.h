/* Hashes of two kinds: one with a key, for tables, where whoever chooses the input cannot choose
 * the collisions without it; and two without, the same on every machine and for ever, for what is
 * compared, drawn from or divided by them. */
#ifndef TRAINYARD_BASE_HASH_H
#define TRAINYARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t words[2];
};

void hash_key_draw(struct hash_key *key); /* from the kernel's randomness */
uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size); /* SipHash-1-3 */

/* FNV-1a, going on from `hash`: HASH_FNV_START for the first bytes. */
#define HASH_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_fnv1a(uint64_t hash, const void *data, size_t size);

/* The finalizer of splitmix64: a bijection in which every bit depends on every other. */
static inline uint64_t hash_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

#endif
