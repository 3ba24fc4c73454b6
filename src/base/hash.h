/* A keyed hash of bytes: whoever chooses the input cannot choose the collisions without the key. */
#ifndef TRAINYARD_BASE_HASH_H
#define TRAINYARD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t words[2];
};

void hash_key_draw(struct hash_key *key); /* from the kernel's randomness */
uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size); /* SipHash-1-3 */

#endif
