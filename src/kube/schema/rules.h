/* What limits a value beyond its type, in the terms of OpenAPI v3; of fields built in and of custom
 * resources alike. A limit that was not given is -1 or NULL where its member says nothing else. */
#ifndef TRAINYARD_KUBE_SCHEMA_RULES_H
#define TRAINYARD_KUBE_SCHEMA_RULES_H

#include "base/json/json.h"

struct schema;

/* The texts that are quantities, as the definitions of Kubernetes' projects have it. */
#define SCHEMA_QUANTITY_PATTERN                                                                    \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"            \
    "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"

/* At least, at most; of numbers, lengths and counts. */
struct schema_bound {
    bool given, exclusive;
    double value;
};

struct schema_rules {
    const char *const *words;  /* the texts allowed, in order, ends with NULL; NULL: any */
    const struct json *values; /* the values allowed (an array), of any type; NULL: any */
    struct schema_bound minimum, maximum;
    double multiple_of; /* 0: any */
    struct schema_bound length_min, length_max;
    struct schema_bound items_min, items_max, members_min, members_max;
    const char *pattern; /* a regular expression; NULL: any text */
    const char *format;  /* "date-time", "int32", …; NULL: none */
    bool unique_items;
    const char *const *required; /* members that no field describes; ends with NULL; NULL: none */
    /* Others that hold besides: all of them, any, exactly one, none. End with NULL; NULL: none. */
    const struct schema *const *all_of, *const *any_of, *const *one_of;
    const struct schema *not_;
};

#endif
