/* JSON trees in an arena: what a Kubernetes object is in this program.
 *
 * Members keep their order, so unknown fields survive a round trip where they stood. Integers are
 * exact over all of int64; any other number keeps its text and is written back as it was read.
 * Strings are UTF-8, NUL-terminated, with an explicit size. Every node may carry the line and
 * column it came from (YAML and JSON files), for errors that point. Lookup is linear: objects of
 * this field are small.
 */
#ifndef TRAINYARD_BASE_JSON_H
#define TRAINYARD_BASE_JSON_H

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
    JSON_REAL, /* a number that is no int64: its text */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* Whole clusters are held in these, so they are small. */
struct json {
    enum json_type type;
    uint32_t line, column; /* from 1; 0 where unknown */
    uint32_t count;        /* members or elements */
    const char *name;      /* of a member of an object, else NULL */
    struct json *next;     /* the next member or element */
    union {
        bool boolean;
        int64_t integer;
        struct {
            const char *text; /* JSON_STRING, and JSON_REAL as it was written */
            size_t size;
        };
        struct {
            struct json *first, *last; /* JSON_ARRAY, JSON_OBJECT */
        };
    };
};

struct json_limits {
    size_t depth; /* nesting; 0 or more than JSON_DEPTH_MAX: JSON_DEPTH_MAX */
    size_t nodes; /* values in all; 0: JSON_NODES_MAX */
    bool repeats; /* a name may stand twice in one object: so it does in the tree, too */
};
/* A stored object may nest 128 levels deep (engine/kinds/stored.h); the rest is for the lists, Tables
 * and events around it. */
enum { JSON_DEPTH_MAX = 144, JSON_NODES_MAX = 4 * 1000 * 1000 };

/* One whole document; anything but white space behind it, a duplicate member, bad UTF-8, a NUL
 * character or a limit passed is ERR_BAD_REQUEST with "line:column: what" (columns count bytes).
 * `limits` may be NULL. */
int json_parse(struct arena *arena, const char *text, size_t size, const struct json_limits *limits,
               struct json **ret, struct err *err);

/* The shortest form, or one indented by two spaces. What is written is always JSON: bytes of a
 * string that are no UTF-8 become U+FFFD. */
void json_write(const struct json *json, struct buf *buf);
void json_write_pretty(const struct json *json, struct buf *buf);
char *json_to_string(struct arena *arena, const struct json *json); /* shortest form */

/* Making. Strings are copied into the arena; a NULL string and a real that is not finite become
 * null. */
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
/* Deep; the name is not taken. NULL of NULL. */
struct json *json_clone(struct arena *arena, const struct json *json);
/* The same of what is to be an object: an empty one in place of NULL and of any other type. */
struct json *json_clone_object(struct arena *arena, const struct json *json);
/* The same of what is much like `base`: names, texts and the ends of lists that it has too are not
 * copied but shared, so it must outlive the copy, and neither may be changed. NULL: nothing is
 * shared. */
struct json *json_clone_beside(struct arena *arena, const struct json *json,
                               const struct json *base);
bool json_equal(const struct json *a, const struct json *b); /* order of members does not count */

/* Asking. All are NULL-safe and answer NULL or the fallback for a missing or wrong-typed value. */
struct json *json_get(const struct json *object, const char *name);
struct json *json_at(const struct json *object, ...)
    __attribute__((sentinel)); /* names, then NULL */
const char *json_get_string(const struct json *object, const char *name, const char *fallback);
int64_t json_get_int(const struct json *object, const char *name, int64_t fallback);
bool json_get_bool(const struct json *object, const char *name, bool fallback);
const char *json_text(const struct json *string); /* its text, or NULL if it is no string */
double json_number(const struct json *number, double fallback); /* of JSON_INT or JSON_REAL */
size_t json_count(const struct json *list);                     /* of an array or object, else 0 */
struct json *json_element(const struct json *array, size_t position);
const char *json_type_name(enum json_type type); /* "an object", "a string", … */

/* Changing. A value belongs to one tree only: clone it to put it into another. Whoever changes what
 * came from outside asks for its type first: to set a member of what is no object is a defect. */
void json_append(struct json *array, struct json *value);
struct json *json_set(struct arena *arena, struct json *object, const char *name,
                      struct json *value); /* replaces in place, else appends; returns value;
                                              NULL removes */
void json_set_string(struct arena *arena, struct json *object, const char *name, const char *text);
void json_set_int(struct arena *arena, struct json *object, const char *name, int64_t value);
void json_set_bool(struct arena *arena, struct json *object, const char *name, bool value);
bool json_remove(struct json *object, const char *name); /* true if it was there */
void json_remove_element(struct json *array, struct json *element);
/* The object member of that name; made if missing, and in place of a value of another type. */
struct json *json_ensure_object(struct arena *arena, struct json *object, const char *name);
struct json *json_ensure_array(struct arena *arena, struct json *object, const char *name);

/* NOLINTBEGIN(bugprone-macro-parentheses): what a macro declares cannot stand in parentheses */
#define JSON_EACH(item, list)                                                                      \
    for (struct json *item = json_first(list); (item) != NULL; (item) = (item)->next)
/* NOLINTEND(bugprone-macro-parentheses) */

static inline struct json *json_first(const struct json *list)
{
    return list && (list->type == JSON_ARRAY || list->type == JSON_OBJECT) ? list->first : NULL;
}

#endif
