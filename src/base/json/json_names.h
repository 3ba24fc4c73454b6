/* Finds members of a large object by name at a bounded cost. json_get() compares all names, and a
 * client may send an object with a hundred thousand of them.
 *
 * For parsers, which refuse duplicate names: while members are few, a filter of one bit per name
 * answers most queries, and the others compare all names. With many members, names in rising order
 * (as programs write the keys of a map) are compared with the last one only; other names are put
 * into a hash set. Code that merges or compares two objects uses the same set. */
#ifndef TRAINYARD_BASE_JSON_JSON_NAMES_H
#define TRAINYARD_BASE_JSON_JSON_NAMES_H

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/json/json.h"

struct json_names { /* must be zeroed at first */
    uint64_t filter;
    struct json **slots;
    size_t capacity;
    enum { JSON_NAMES_UNKNOWN, JSON_NAMES_RISE, JSON_NAMES_MIXED } order;
    struct hash_key key;
};

void json_names_release(struct json_names *names);

/* Whether the member's name (of `size` bytes) is new to the object. If it is, it is remembered, and
 * the caller links the member into the object next. */
bool json_names_add(struct json_names *names, const struct json *object, struct json *member,
                    size_t size);

/* Like json_get(), for one object that is queried many times. A member that was linked into the
 * object after the first query without json_names_add() may not be found. A member that was removed
 * from the object must not be queried. */
struct json *json_names_find(struct json_names *names, const struct json *object, const char *name);

#define _cleanup_json_names_ _cleanup_(json_names_release)

#endif
