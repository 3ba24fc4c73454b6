/* Makes the definitions of an OpenAPI document of version 2 or 3 from field tables
 * (kube/schema/schema.h). A type with a name is defined once, and every use of the type is a
 * reference to its definition. A function that returns a reference also defines the type and all
 * types that it contains. */
#ifndef TRAINYARD_ENGINE_OPENAPI_SCHEMA_H
#define TRAINYARD_ENGINE_OPENAPI_SCHEMA_H

#include "base/json/json.h"
#include "base/vec.h"
#include "engine/kinds/registry.h"
#include "kube/schema/schema.h"

enum openapi_version { OPENAPI_V2, OPENAPI_V3 };

struct openapi_types {
    struct arena *arena;
    const struct registry *registry;
    enum openapi_version version;
    struct json *definitions; /* maps names to schemas */
    VEC(const void *) known;  /* the types that are defined already */
    bool custom;              /* the type that is being written belongs to a custom resource */
};

void openapi_types_init(struct openapi_types *types, struct arena *arena,
                        const struct registry *registry, enum openapi_version version);
void openapi_types_release(struct openapi_types *types);

/* Returns a reference {"$ref": …} to a type, which must have a name. */
struct json *openapi_refer(struct openapi_types *types, const struct schema_object *object);
/* Returns a reference to the type of a kind. */
struct json *openapi_refer_kind(struct openapi_types *types, const struct kube_kind *resource);
/* Returns a reference to the list type of a kind. */
struct json *openapi_refer_list(struct openapi_types *types, const struct kube_kind *resource);

/* ---- Shared by schema.c and rules.c */
struct schema_rules;
/* Returns the schema of a value. */
struct json *openapi_write_value(struct openapi_types *types, const struct schema *value);
/* Adds the rules for a value to its schema `json`. */
void openapi_write_rules(struct openapi_types *types, struct json *json,
                         const struct schema_rules *rules);

/* Returns {"group": …, "kind": …, "version": …}. */
struct json *openapi_group_version_kind(struct arena *arena, const char *group, const char *version,
                                        const char *kind);

#endif
