/* Which fields a kind has, so that a misspelt one is told to who wrote it instead of being ignored
 * in silence. The tables (field_schema_kinds.c) know names only; types and values are the business
 * of validation. */
#ifndef TRAINYARD_ENGINE_FIELD_SCHEMA_H
#define TRAINYARD_ENGINE_FIELD_SCHEMA_H

#include "base/json.h"

#include <stddef.h>

/* One level: ends with name NULL. A field whose `below` is NULL may hold anything. The value of a
 * field that is a list is checked element by element. */
struct field_schema {
    const char *name; /* "*": every name, for maps of objects */
    const struct field_schema *below;
};

/* Of a kind, or NULL where nothing is checked. */
const struct field_schema *field_schema_of(const char *api_version, const char *kind);

enum { FIELD_SCHEMA_REPORT_MAX = 20 };

/* The unknown fields as complaints in Kubernetes' words, with a guess at what was meant:
 * `unknown field "spec.containers[0].comand", did you mean "command"?`. At most
 * FIELD_SCHEMA_REPORT_MAX, in the arena; returns how many. */
size_t field_schema_unknown(struct arena *arena, const struct field_schema *schema,
                            const struct json *object,
                            const char *ret_complaints[FIELD_SCHEMA_REPORT_MAX]);

#endif
