/* Members of a large object by name, at a bounded cost: json_get() looks through all of them, and
 * who sends objects may send them with a hundred thousand. For readers, which refuse duplicates: a
 * filter answers most questions with one bit, a comparison of all while they are few. Beyond that
 * names that rise, as programs write the keys of a map, are compared with the last one; other names
 * are put into a hash set. For who merges or compares two objects: the same set. */
#ifndef TRAINYARD_BASE_JSON_NAMES_H
#define TRAINYARD_BASE_JSON_NAMES_H

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/json/json.h"

struct json_names { /* starts zeroed */
    uint64_t filter;
    struct json **slots;
    size_t capacity;
    enum { JSON_NAMES_UNKNOWN, JSON_NAMES_RISE, JSON_NAMES_MIXED } order;
    struct hash_key key;
};

void json_names_release(struct json_names *names);

/* Is the member's name (of `size` bytes) new to the object? If so it is remembered; the caller
 * links the member into the object next. */
bool json_names_add(struct json_names *names, const struct json *object, struct json *member,
                    size_t size);

/* As json_get(), for one object that is asked many times. What was linked into it since the first
 * question without json_names_add() may not be found; what was taken out of it may not be asked
 * for. */
struct json *json_names_find(struct json_names *names, const struct json *object, const char *name);

#define _cleanup_json_names_ _cleanup_(json_names_release)

#endif
