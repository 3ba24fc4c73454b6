/* JSON trees in an arena: the form of every Kubernetes object in this program.
 *
 * Members keep their order, so unknown fields survive a round trip at their place. Integers are
 * exact over all of int64; any other number is stored as its text and written unchanged. Strings
 * are UTF-8, NUL-terminated, with an explicit size. A node may carry the line and column of its
 * source text (YAML and JSON files), for error messages. Lookup is linear, because most objects are
 * small. For large objects, json_names.h has a hash set. */
#ifndef TRAINYARD_BASE_JSON_JSON_H
#define TRAINYARD_BASE_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,
    JSON_REAL, /* any other number, stored as its text */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* One value of a tree. The struct is small, because all objects of a cluster are in memory as
 * trees. */
struct json {
    enum json_type type;
    uint32_t line, column; /* from 1; 0: unknown; the JSON parser counts columns in bytes,
                              the YAML parser in characters */
    uint32_t count;        /* number of members or elements */
    const char *name;      /* the member's name if the parent is an object, else NULL */
    struct json *next;     /* the next member or element of the parent, or NULL */
    union {
        bool boolean;
        int64_t integer;
        struct {
            const char *text; /* JSON_STRING: the value; JSON_REAL: the number as it was written */
            size_t size;
        };
        struct {
            struct json *first, *last; /* JSON_ARRAY, JSON_OBJECT */
        };
    };
};

struct json_limits {
    size_t depth; /* nesting levels; 0 or a value above JSON_DEPTH_MAX means JSON_DEPTH_MAX */
    size_t nodes; /* total number of values; 0 means JSON_NODES_MAX */
    bool repeats; /* allow duplicate names in an object; the tree then has all members */
};
/* A stored object may nest 128 levels deep (engine/stored/stored.h). The other levels are for the
 * lists, Tables and events that contain the object. */
enum { JSON_DEPTH_MAX = 144, JSON_NODES_MAX = 4 * 1000 * 1000 };

/* Parses one document. Returns 0, or -ERR_BAD_REQUEST with the message "line:column: …" (columns
 * count bytes). Duplicate members (unless the limits allow them), invalid UTF-8, NUL characters,
 * exceeded limits and text after the document are errors. If `limits` is NULL, the maxima above
 * apply. */
int json_parse(struct arena *arena, const char *text, size_t size, const struct json_limits *limits,
               struct json **ret, struct err *err);

/* json_write() writes no white space; json_write_pretty() indents by two spaces. The output is
 * always valid JSON: invalid UTF-8 in a string becomes U+FFFD, and a `json` of NULL becomes null.
 */
void json_write(const struct json *json, struct buf *buf);
void json_write_pretty(const struct json *json, struct buf *buf);
char *json_to_string(struct arena *arena, const struct json *json); /* without white space */

/* Constructors. Strings are copied into the arena. A NULL string and a real number that is not
 * finite become null. */
struct json *json_null(struct arena *arena);
struct json *json_bool(struct arena *arena, bool value);
struct json *json_int(struct arena *arena, int64_t value);
struct json *json_real(struct arena *arena, double value);
struct json *json_string(struct arena *arena, const char *text);
struct json *json_string_n(struct arena *arena, const char *text, size_t size);
struct json *json_stringf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct json *json_array(struct arena *arena);
struct json *json_object(struct arena *arena);
/* Returns a deep copy, or NULL if `json` is NULL. The copied value has no member name; all values
 * below it keep their names. */
struct json *json_clone(struct arena *arena, const struct json *json);
/* Like json_clone(), but returns an empty object if `json` is NULL or not an object. */
struct json *json_clone_object(struct arena *arena, const struct json *json);
/* Like json_clone(), but the copy shares memory with `base`, a similar tree: equal names, equal
 * strings, and equal items at the end of arrays and objects with the same number of items. `base`
 * must outlive the copy, and neither `base` nor the copy may be changed afterwards. If `base` is
 * NULL, nothing is shared. `json` must not be NULL. */
struct json *json_clone_beside(struct arena *arena, const struct json *json,
                               const struct json *base);
/* Compares two trees by value. The order of members does not matter, and 1 equals 1.0. NULL equals
 * only NULL. */
bool json_equal(const struct json *a, const struct json *b);

/* Queries. All accept NULL. If the value is missing or has another type, they return NULL or the
 * fallback. */
struct json *json_get(const struct json *object, const char *name);
/* Follows a path of member names, given as arguments. The last argument is NULL. */
struct json *json_at(const struct json *object, ...) __attribute__((sentinel));
const char *json_get_string(const struct json *object, const char *name, const char *fallback);
int64_t json_get_int(const struct json *object, const char *name, int64_t fallback);
bool json_get_bool(const struct json *object, const char *name, bool fallback);
const char *json_text(const struct json *string); /* the text, or NULL if the value is no string */
double json_number(const struct json *number,
                   double fallback);        /* the value of a JSON_INT or JSON_REAL */
size_t json_count(const struct json *list); /* number of elements or members; 0 for other types */
struct json *json_element(const struct json *array, size_t position);
const char *json_type_name(enum json_type type); /* "an object", "a string", … */

/* Changes. A value belongs to one tree only: clone a value to add it to a second tree. Except for
 * json_remove(), these functions abort if `object` is not an object or `array` is not an array, so
 * code that changes untrusted input must check the type first. */
void json_append(struct json *array, struct json *value);
/* Replaces the member of this name at its place, or appends a member. If `value` is NULL, removes
 * the member. Returns `value`. */
struct json *json_set(struct arena *arena, struct json *object, const char *name,
                      struct json *value);
void json_set_string(struct arena *arena, struct json *object, const char *name, const char *text);
void json_set_int(struct arena *arena, struct json *object, const char *name, int64_t value);
void json_set_bool(struct arena *arena, struct json *object, const char *name, bool value);
/* Returns true if the member existed, and false if not or if the value is not an object. */
bool json_remove(struct json *object, const char *name);
void json_remove_element(struct json *array, struct json *element);
/* Returns the member of this name. If it is missing or has another type, sets an empty object or
 * array first. */
struct json *json_ensure_object(struct arena *arena, struct json *object, const char *name);
struct json *json_ensure_array(struct arena *arena, struct json *object, const char *name);

/* Visits each member of an object or element of an array; `list` may be NULL. If the body removes
 * `item` from the list, the loop ends. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot be in parentheses */
#define JSON_EACH(item, list)                                                                      \
    for (struct json *item = json_first(list); (item) != NULL; (item) = (item)->next)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline struct json *json_first(const struct json *list)
{
    return list && (list->type == JSON_ARRAY || list->type == JSON_OBJECT) ? list->first : NULL;
}

#endif
