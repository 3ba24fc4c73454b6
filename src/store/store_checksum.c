/* Computes the checksums of rows; see store_checksum.h. Each hash is the key of the next hash, so
 * that the columns need not be copied into one buffer. */
#include "store/store_checksum.h"

#include "base/hash.h"
#include "base/json/json.h"

#include <endian.h>

/* The bytes "trainyar", and "store" with the number 2. The values are arbitrary, but must never
 * change. */
static const uint64_t HASH_KEY_FIRST = 0x747261696e796172u, HASH_KEY_NEXT = 0x73746f7265000002u;

uint64_t store_checksum_head(int64_t revision, const char *key, size_t key_size, int64_t created,
                             bool deleted)
{
    const uint64_t numbers[] = {htole64((uint64_t)revision), htole64((uint64_t)created),
                                htole64(deleted)};
    struct hash_key first = {{HASH_KEY_FIRST, HASH_KEY_NEXT}};
    struct hash_key next = {{hash_bytes(&first, numbers, sizeof(numbers)), HASH_KEY_NEXT}};
    return hash_bytes(&next, key, key_size);
}

uint64_t store_checksum_row(uint64_t head, const void *data, size_t size)
{
    struct hash_key next = {{head, HASH_KEY_NEXT}};
    return hash_bytes(&next, data, size);
}

bool store_checksum_is_plausible(const void *data, size_t size)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = NULL;
    return json_parse(arena, data ? data : "", size, NULL, &json, NULL) == 0 &&
           json->type == JSON_OBJECT;
}

uint64_t store_checksum_adopt(uint64_t head, const void *data, size_t size)
{
    uint64_t whole = store_checksum_row(head, data, size);
    return store_checksum_is_plausible(data, size) ? whole : ~whole;
}
