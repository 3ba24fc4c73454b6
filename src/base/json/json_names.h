/* Finds members of a large object by name without comparing all names. json_get() compares all
 * names, which is slow if a client sends an object with a hundred thousand members.
 *
 * Parsers use json_names_add() to refuse duplicate names. For a small object, a filter of 64 bits
 * shows for most names that they are new; otherwise all names are compared. For a large object
 * whose names are in rising order, as programs write the keys of a map, a name is compared with the
 * last name only. The names of other large objects are put into a hash set. Code that merges or
 * compares two objects uses json_names_find(), which always uses the hash set for large objects. */
#ifndef TRAINYARD_BASE_JSON_JSON_NAMES_H
#define TRAINYARD_BASE_JSON_JSON_NAMES_H

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/json/json.h"

struct json_names {      /* the caller zeroes it before the first call */
    uint64_t filter;     /* for small objects: one bit for each of 64 classes of names */
    struct json **slots; /* the hash set of members; NULL: not needed yet */
    size_t capacity;     /* number of slots */
    /* Whether the names of the object are in rising order. */
    enum { JSON_NAMES_UNKNOWN, JSON_NAMES_RISE, JSON_NAMES_MIXED } order;
    struct hash_key key; /* random; set when the first slots are allocated */
};

void json_names_release(struct json_names *names);

/* Returns true if no member of the object has the new member's name (of `size` bytes). Then the
 * name is stored, and the caller must link the member into the object before the next call. */
bool json_names_add(struct json_names *names, const struct json *object, struct json *member,
                    size_t size);

/* Like json_get(), for an object that is queried many times. After the first query, a member that
 * is linked into the object without json_names_add() may not be found. The name of a member that
 * was removed from the object must not be queried. */
struct json *json_names_find(struct json_names *names, const struct json *object, const char *name);

#define _cleanup_json_names_ _cleanup_(json_names_release)

#endif
