/* Limits of a value beyond its type, in the terms of OpenAPI v3, for built-in fields and custom
 * resources. A limit that is not set is zero or NULL unless its member says otherwise. */
#ifndef TRAINYARD_KUBE_SCHEMA_RULES_H
#define TRAINYARD_KUBE_SCHEMA_RULES_H

#include "base/json/json.h"

struct schema;

/* The pattern of quantities that the definitions of Kubernetes projects use. */
#define SCHEMA_QUANTITY_PATTERN                                                                    \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"            \
    "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"

/* A minimum or maximum of a number, a length or a count. */
struct schema_bound {
    bool given, exclusive;
    double value;
};

struct schema_rules {
    const char *const *words;  /* the allowed texts in order, ends with NULL; NULL: any text */
    const struct json *values; /* the allowed values (a JSON array), of any type; NULL: any value */
    struct schema_bound minimum, maximum;
    double multiple_of; /* 0: no such rule */
    struct schema_bound length_min, length_max;
    struct schema_bound items_min, items_max, members_min, members_max;
    const char *pattern; /* a regular expression that the text must match; NULL: none */
    const char *format;  /* "date-time", "int32", …; NULL: none */
    bool unique_items;
    const char *const
        *required; /* required members that have no field; ends with NULL; NULL: none */
    /* Schemas that must hold too: all, any, exactly one, or not. The lists end with NULL; NULL:
     * none. */
    const struct schema *const *all_of, *const *any_of, *const *one_of;
    const struct schema *not_;
};

#endif
