/* Label and field selectors, parsed once and matched often. The API server filters with them, the
 * controllers find their pods with them. Everything lives in the arena given. */
#ifndef TRAINYARD_KUBE_SELECTOR_H
#define TRAINYARD_KUBE_SELECTOR_H

#include "base/json/json.h"

enum { KUBE_SELECTOR_MAX = 16 * 1024, KUBE_SELECTOR_TERMS_MAX = 1024 };

enum kube_selector_op {
    KUBE_SELECTOR_IN,         /* has the key with one of the values; = and == are this with one */
    KUBE_SELECTOR_NOT_IN,     /* lacks the key, or has another value; != is this with one */
    KUBE_SELECTOR_EXISTS,     /* key */
    KUBE_SELECTOR_NOT_EXISTS, /* !key */
    KUBE_SELECTOR_GREATER,    /* key>5: node affinity; both sides whole numbers */
    KUBE_SELECTOR_LESS,
};

struct kube_selector_term {
    const char *key;
    enum kube_selector_op op;
    const char **values;
    size_t count;
};

/* All terms must hold. No term: everything matches, unless `nothing` is set. */
struct kube_selector {
    const struct kube_selector_term *terms;
    size_t count;
    bool nothing;
};

/* "app=web,tier in (a, b),!canary". NULL or "" selects everything. Errors are ERR_BAD_REQUEST. */
int kube_selector_parse(struct arena *arena, const char *text, struct kube_selector *ret,
                        struct err *err);

/* A LabelSelector {matchLabels, matchExpressions}: NULL or null selects nothing and {} everything,
 * as the API defines it. */
int kube_selector_from_json(struct arena *arena, const struct json *label_selector,
                            struct kube_selector *ret, struct err *err);

/* The plain map of a Service's spec.selector; missing or empty selects nothing, as there. */
int kube_selector_from_map(struct arena *arena, const struct json *map, struct kube_selector *ret,
                           struct err *err);

/* The matchExpressions form of node affinity [{key, operator, values}], with Gt and Lt. */
int kube_selector_from_expressions(struct arena *arena, const struct json *expressions,
                                   struct kube_selector *ret, struct err *err);

/* `labels` is the map of strings, or NULL for none. */
bool kube_selector_matches(const struct kube_selector *selector, const struct json *labels);

/* The text form, which parses back to the same selector. */
char *kube_selector_text(struct arena *arena, const struct kube_selector *selector);

struct kube_field_term {
    const char *path; /* "metadata.name" */
    bool equal;       /* = or ==; else != */
    const char *value;
};

struct kube_field_selector {
    const struct kube_field_term *terms;
    size_t count;
};

/* "metadata.name=a,status.phase!=Failed", with \\ \, and \= escaped in values. Any path is parsed:
 * the caller says which it serves. */
int kube_field_selector_parse(struct arena *arena, const char *text,
                              struct kube_field_selector *ret, struct err *err);

/* The value of a path in the object, "" where it is missing. */
typedef const char *kube_field_getter(const struct json *object, const char *path);

/* Follows the dots through the tree; strings only, anything else is "". */
kube_field_getter kube_field_get;

bool kube_field_selector_matches(const struct kube_field_selector *selector,
                                 const struct json *object, kube_field_getter *get);

#endif
