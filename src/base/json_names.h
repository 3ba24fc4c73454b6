/* Which names an object being read has, for the refusal of duplicates at a bounded cost: a filter
 * answers most questions with one bit, a comparison of all while they are few, a hash set beyond
 * that. Used by the JSON and YAML readers alone. */
#ifndef TRAINYARD_BASE_JSON_NAMES_H
#define TRAINYARD_BASE_JSON_NAMES_H

#include "base/hash.h"
#include "base/json.h"

struct json_names { /* starts zeroed */
    uint64_t filter;
    struct json **slots;
    size_t capacity;
    struct hash_key key;
};

void json_names_release(struct json_names *names);

/* Is the member's name (of `size` bytes) new to the object? If so it is remembered; the caller
 * links the member into the object next. */
bool json_names_add(struct json_names *names, const struct json *object, struct json *member,
                    size_t size);

#endif
