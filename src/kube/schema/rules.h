/* Limits of a value in addition to its type, with the meaning of the OpenAPI v3 keywords. Used for
 * built-in fields and custom resources. A limit that is not set is zero or NULL. */
#ifndef TRAINYARD_KUBE_SCHEMA_RULES_H
#define TRAINYARD_KUBE_SCHEMA_RULES_H

#include "base/json/json.h"

struct schema;

/* The pattern for quantities in the CustomResourceDefinitions of Kubernetes projects. */
#define SCHEMA_QUANTITY_PATTERN                                                                    \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"            \
    "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"

/* A minimum or maximum of a number, a length or a count. */
struct schema_bound {
    bool given, exclusive;
    double value;
};

struct schema_rules {
    const char *const *words; /* the allowed strings, NULL-terminated; NULL: any string */
    /* A JSON array of the allowed values, of any type; NULL: any value. */
    const struct json *values;
    struct schema_bound minimum, maximum;
    double multiple_of; /* 0: no such rule */
    struct schema_bound length_min, length_max;
    struct schema_bound items_min, items_max, members_min, members_max;
    const char *pattern; /* a regular expression that the string must match; NULL: none */
    const char *format;  /* "date-time", "int32", …; NULL: none */
    bool unique_items;
    const char *const
        *required; /* the required members that have no schema_field; NULL-terminated; NULL: none */
    /* The value must also be valid for all schemas of all_of, for at least one of any_of, for
     * exactly one of one_of, and not valid for not_. The lists are NULL-terminated; NULL: no such
     * rule. */
    const struct schema *const *all_of, *const *any_of, *const *one_of;
    const struct schema *not_;
};

#endif
