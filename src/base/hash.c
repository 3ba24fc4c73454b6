/* Implements hashes; see hash.h. hash_bytes() is SipHash-1-3: one round per word and three at the
 * end. The hash tables of Rust and Python use the same function. Hashing a short text takes a few
 * nanoseconds. */
#include "base/hash.h"

#include "base/rand.h"

#include <endian.h>
#include <string.h>

void hash_key_draw(struct hash_key *key)
{
    rand_secure(key->words, sizeof(key->words));
}

static inline uint64_t hash_rotate(uint64_t value, int by)
{
    return (value << by) | (value >> (64 - by));
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = hash_rotate(v[1], 13) ^ v[0];
    v[3] = hash_rotate(v[3], 16) ^ v[2];
    v[0] = hash_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = hash_rotate(v[1], 17) ^ v[2];
    v[3] = hash_rotate(v[3], 21) ^ v[0];
    v[2] = hash_rotate(v[2], 32);
}

static inline void hash_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size)
{
    uint64_t v[4] = {
        key->words[0] ^ 0x736f6d6570736575u,
        key->words[1] ^ 0x646f72616e646f6du,
        key->words[0] ^ 0x6c7967656e657261u,
        key->words[1] ^ 0x7465646279746573u,
    };
    const unsigned char *at = data;
    for (size_t left = size / 8; left; left--, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        hash_absorb(v, le64toh(word));
    }
    uint64_t tail = (uint64_t)size << 56;
    for (size_t i = 0; i < size % 8; i++)
        tail |= (uint64_t)at[i] << (8 * i);
    hash_absorb(v, tail);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_fnv1a(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}
