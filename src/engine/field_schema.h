/* Which fields a kind has, and which of them have no effect here, so that both a misspelt one and
 * one that asks for more than there is are told to who wrote them instead of being ignored in
 * silence. The tables (field_schema_kinds.c) know names only; types and values are the business of
 * validation. */
#ifndef TRAINYARD_ENGINE_FIELD_SCHEMA_H
#define TRAINYARD_ENGINE_FIELD_SCHEMA_H

#include "base/json.h"

#include <stddef.h>

/* One level: ends with name NULL. A field whose `below` is NULL may hold anything. The value of a
 * field that is a list is checked element by element. */
struct field_schema {
    const char *name; /* "*": every name, for maps of objects */
    const struct field_schema *below;
    const char *unsupported; /* why nothing comes of it, for a sentence; NULL: it works */
};

/* Of a kind, or NULL where nothing is checked. */
const struct field_schema *field_schema_of(const char *api_version, const char *kind);

enum { FIELD_SCHEMA_REPORT_MAX = 20 };

struct field_complaints {
    const char *texts[FIELD_SCHEMA_REPORT_MAX]; /* the first ones, in the arena */
    size_t count;
};

struct field_report {
    /* In Kubernetes' words, with a guess at what was meant:
     * `unknown field "spec.containers[0].comand", did you mean "command"?` */
    struct field_complaints unknown;
    /* `spec.containers[0].livenessProbe: not supported here: probes are not run`; a field that is
     * there but empty or false asks for nothing. */
    struct field_complaints unsupported;
};

void field_schema_check(struct arena *arena, const struct field_schema *schema,
                        const struct json *object, struct field_report *ret);

#endif
