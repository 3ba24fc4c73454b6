/* Parses and matches label and field selectors. The API server filters objects with them, and
 * controllers find their pods with them. Results are in the arena. */
#ifndef TRAINYARD_KUBE_SELECTOR_H
#define TRAINYARD_KUBE_SELECTOR_H

#include "base/json/json.h"

/* Limits: bytes of a text, and terms of a selector. In the text of a label selector, each further
 * value in parentheses counts like a term. */
enum { KUBE_SELECTOR_MAX = 16 * 1024, KUBE_SELECTOR_TERMS_MAX = 1024 };

enum kube_selector_op {
    KUBE_SELECTOR_IN,     /* the label has one of the values; also = and ==, with one value */
    KUBE_SELECTOR_NOT_IN, /* the label is missing or has another value; also !=, with one value */
    KUBE_SELECTOR_EXISTS, /* key */
    KUBE_SELECTOR_NOT_EXISTS, /* !key */
    KUBE_SELECTOR_GREATER,    /* key>5: both sides are integers; in JSON, only in node affinity */
    KUBE_SELECTOR_LESS,
};

struct kube_selector_term {
    const char *key;
    enum kube_selector_op op;
    const char **values;
    size_t count;
};

/* An object matches if all terms match. A selector without terms matches everything. */
struct kube_selector {
    const struct kube_selector_term *terms;
    size_t count;
    bool nothing; /* no object matches; there are no terms */
};

/* Parses "app=web,tier in (a, b),!canary". NULL or "" selects everything. Returns 0 or
 * -ERR_BAD_REQUEST. */
int kube_selector_parse(struct arena *arena, const char *text, struct kube_selector *ret,
                        struct err *err);

/* Reads a LabelSelector {matchLabels, matchExpressions}. As the API defines, NULL or null selects
 * nothing, and {} selects everything. Returns 0 or -ERR_INVALID, like the next two functions. */
int kube_selector_from_json(struct arena *arena, const struct json *label_selector,
                            struct kube_selector *ret, struct err *err);

/* Reads the map of a Service's spec.selector. A missing or empty map selects nothing. */
int kube_selector_from_map(struct arena *arena, const struct json *map, struct kube_selector *ret,
                           struct err *err);

/* Reads the matchExpressions of node affinity [{key, operator, values}], with Gt and Lt. */
int kube_selector_from_expressions(struct arena *arena, const struct json *expressions,
                                   struct kube_selector *ret, struct err *err);

/* Returns whether the labels match. `labels` is a map of strings, or NULL. */
bool kube_selector_matches(const struct kube_selector *selector, const struct json *labels);

/* Returns the terms in the syntax that kube_selector_parse() reads. The text does not show
 * `nothing`. kube_selector_parse() refuses the text if it exceeds a limit above, or if a key or
 * value from JSON is not valid for a label. */
char *kube_selector_text(struct arena *arena, const struct kube_selector *selector);

struct kube_field_term {
    const char *path; /* "metadata.name" */
    bool equal;       /* = or ==; false: != */
    const char *value;
};

struct kube_field_selector {
    const struct kube_field_term *terms;
    size_t count;
};

/* Parses "metadata.name=a,status.phase!=Failed", where a backslash escapes a backslash, comma or =
 * in a value. NULL or "" selects everything. Any path is accepted: the caller decides which paths
 * it supports. Returns 0 or -ERR_BAD_REQUEST. */
int kube_field_selector_parse(struct arena *arena, const char *text,
                              struct kube_field_selector *ret, struct err *err);

/* Returns the value at a path of the object; "" if it is missing. */
typedef const char *kube_field_getter(const struct json *object, const char *path);

/* Reads the value at the path in the tree. Returns "" for a value that is not a string. */
kube_field_getter kube_field_get;

bool kube_field_selector_matches(const struct kube_field_selector *selector,
                                 const struct json *object, kube_field_getter *get);

#endif
