/* Makes definitions from field tables; see schema.h. */
#include "engine/openapi/schema.h"

#include "base/str.h"
#include "kube/schema/structural.h"
#include "kube/types/types.h"

#include <string.h>

static const char KINDS[] = "x-kubernetes-group-version-kind";

/* A scalar type that has a named definition in Kubernetes. */
struct scalar {
    const char *name, *doc, *format;
};

static const struct scalar QUANTITY = {
    .name = "io.k8s.apimachinery.pkg.api.resource.Quantity",
    .doc = "an amount as a number with a suffix: 500m, 2, 1.5Gi",
};
static const struct scalar INT_OR_STRING = {
    .name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    .doc = "a whole number, or a text such as a name or a percentage",
    .format = "int-or-string",
};
static const struct scalar TIME = {
    .name = "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    .doc = "a time in RFC 3339 format, in seconds",
    .format = "date-time",
};
static const struct scalar MICRO_TIME = {
    .name = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    .doc = "a time in RFC 3339 format, in microseconds",
    .format = "date-time",
};

void openapi_types_init(struct openapi_types *types, struct arena *arena,
                        const struct registry *registry, enum openapi_version version)
{
    *types = (struct openapi_types){.arena = arena, .registry = registry, .version = version};
    types->definitions = json_object(arena);
}

void openapi_types_release(struct openapi_types *types)
{
    vec_release(&types->known);
}

struct json *openapi_group_version_kind(struct arena *arena, const char *group, const char *version,
                                        const char *kind)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "group", group);
    json_set_string(arena, json, "kind", kind);
    json_set_string(arena, json, "version", version);
    return json;
}

/* ---- References ------------------------------------------------------------------------------ */

/* Marks the type as defined. Returns false if it was marked already. */
static bool mark_defined(struct openapi_types *types, const void *type)
{
    for (size_t i = 0; i < types->known.count; i++)
        if (types->known.items[i] == type)
            return false;
    vec_push(&types->known, type);
    return true;
}

static struct json *make_reference(struct openapi_types *types, const char *name)
{
    struct json *json = json_object(types->arena);
    json_set(types->arena, json, "$ref",
             json_stringf(types->arena, "#/%s/%s",
                          types->version == OPENAPI_V2 ? "definitions" : "components/schemas",
                          name));
    return json;
}

static struct json *make_marked(struct arena *arena, const char *extension)
{
    struct json *json = json_object(arena);
    json_set_bool(arena, json, extension, true);
    return json;
}

static void set_either(struct arena *arena, struct json *json, const char *one, const char *other)
{
    struct json *either = json_ensure_array(arena, json, "oneOf");
    json_append(either, schema_plain(arena, one, NULL));
    json_append(either, schema_plain(arena, other, NULL));
}

static struct json *refer_scalar(struct openapi_types *types, const struct scalar *scalar)
{
    struct arena *arena = types->arena;
    if (mark_defined(types, scalar)) {
        struct json *json = json_object(arena);
        json_set_string(arena, json, "description", scalar->doc);
        /* Only version 3 can express one of two types. */
        if (scalar == &INT_OR_STRING && types->version == OPENAPI_V3)
            set_either(arena, json, "integer", "string");
        else if (scalar == &QUANTITY && types->version == OPENAPI_V3)
            set_either(arena, json, "string", "number");
        else
            json_set_string(arena, json, "type", "string");
        if (scalar->format)
            json_set_string(arena, json, "format", scalar->format);
        json_set(arena, types->definitions, scalar->name, json);
    }
    return make_reference(types, scalar->name);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static struct json *write_object_type(struct openapi_types *types,
                                      const struct schema_object *object);

static void write_list_type(struct arena *arena, struct json *json, const struct schema *value)
{
    if (value->keys) {
        struct json *keys = json_ensure_array(arena, json, "x-kubernetes-list-map-keys");
        for (size_t i = 0; value->keys[i]; i++)
            json_append(keys, json_string(arena, value->keys[i]));
    }
    json_set_string(arena, json, "x-kubernetes-list-type",
                    value->keys  ? "map"
                    : value->set ? "set"
                                 : "atomic");
}

static void write_patch_strategy(struct arena *arena, struct json *json, const struct schema *value)
{
    if (!str_is_empty(value->merge_key))
        json_set_string(arena, json, "x-kubernetes-patch-merge-key", value->merge_key);
    if (value->merge_key || value->retain)
        json_set_string(arena, json, "x-kubernetes-patch-strategy",
                        !value->retain     ? "merge"
                        : value->merge_key ? "merge,retainKeys"
                                           : "retainKeys");
}

static struct json *write_type(struct openapi_types *types, const struct schema *value)
{
    struct arena *arena = types->arena;
    struct json *json;
    switch (value->type) {
    case SCHEMA_ANY:
        if (value->object && value->object->name)
            return openapi_refer(types, value->object);
        break;
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_BYTES:
        return schema_scalar(arena, value->type);
    case SCHEMA_NUMBER:
        return schema_plain(arena, "number", "double");
    case SCHEMA_QUANTITY:
        return refer_scalar(types, &QUANTITY);
    case SCHEMA_INT_OR_STRING:
        return types->custom ? make_marked(arena, "x-kubernetes-int-or-string")
                             : refer_scalar(types, &INT_OR_STRING);
    case SCHEMA_TIME:
        return refer_scalar(types, &TIME);
    case SCHEMA_MICRO_TIME:
        return refer_scalar(types, &MICRO_TIME);
    case SCHEMA_OBJECT:
        if (value->object->name)
            return openapi_refer(types, value->object);
        /* If a type is given, clients of version 2 reject unknown fields. */
        return types->version == OPENAPI_V2 && value->object->preserve
                   ? make_marked(arena, "x-kubernetes-preserve-unknown-fields")
                   : write_object_type(types, value->object);
    case SCHEMA_MAP:
        json = schema_plain(arena, "object", NULL);
        json_set(arena, json, "additionalProperties", openapi_write_value(types, value->items));
        if (value->atomic)
            json_set_string(arena, json, "x-kubernetes-map-type", "atomic");
        return json;
    case SCHEMA_LIST:
        json = schema_plain(arena, "array", NULL);
        json_set(arena, json, "items", openapi_write_value(types, value->items));
        write_list_type(arena, json, value);
        return json;
    }
    return json_object(arena);
}

struct json *openapi_write_value(struct openapi_types *types, const struct schema *value)
{
    /* OpenAPI version 2 cannot express null as a value, so the schema is empty and allows every
     * value. */
    if (value->nullable && types->version == OPENAPI_V2)
        return json_object(types->arena);
    struct json *json = write_type(types, value);
    write_patch_strategy(types->arena, json, value);
    if (value->nullable)
        json_set_bool(types->arena, json, "nullable", true);
    if (value->rules)
        openapi_write_rules(types, json, value->rules);
    return json;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void describe_field(struct arena *arena, struct json *json, const struct schema_field *field)
{
    if (field->unsupported)
        json_set(arena, json, "description",
                 json_stringf(arena, "%s (no effect here: %s)", field->doc, field->unsupported));
    else if (!str_is_empty(field->doc))
        json_set_string(arena, json, "description", field->doc);
}

/* Returns a copy of a schema that has "$ref" and other keywords. In OpenAPI version 3, an object
 * with "$ref" must have no other keyword. So the reference becomes the only element of allOf, and
 * the other keywords are added next to allOf. */
static struct json *beside_reference(struct arena *arena, const struct json *value)
{
    struct json *json = json_object(arena), *reference = json_object(arena);
    json_append(json_ensure_array(arena, json, "allOf"), reference);
    JSON_EACH (member, value)
        json_set(arena, str_eq(member->name, "$ref") ? reference : json, member->name,
                 json_clone(arena, member));
    return json;
}

static struct json *write_field(struct openapi_types *types, const struct schema_field *field)
{
    struct arena *arena = types->arena;
    struct json *json = openapi_write_value(types, &field->value);
    if (types->version == OPENAPI_V3 && json_get(json, "$ref"))
        json = beside_reference(arena, json);
    describe_field(arena, json, field);
    if (types->version == OPENAPI_V3 && field->fallback) {
        struct json *fallback;
        if (json_parse(arena, field->fallback, strlen(field->fallback), NULL, &fallback, NULL) == 0)
            json_set(arena, json, "default", fallback);
    }
    return json;
}

static struct json *write_object_type(struct openapi_types *types,
                                      const struct schema_object *object)
{
    struct arena *arena = types->arena;
    struct json *json = json_object(arena);
    if (!str_is_empty(object->doc))
        json_set_string(arena, json, "description", object->doc);
    json_set_string(arena, json, "type", "object");
    if (object->fields && object->fields->name) {
        struct json *properties = json_ensure_object(arena, json, "properties");
        for (const struct schema_field *field = object->fields; field->name; field++)
            json_set(arena, properties, field->name, write_field(types, field));
    }
    for (const struct schema_field *field = object->fields; field && field->name; field++)
        if (field->required)
            json_append(json_ensure_array(arena, json, "required"),
                        json_string(arena, field->name));
    if (object->atomic)
        json_set_string(arena, json, "x-kubernetes-map-type", "atomic");
    if (object->preserve)
        json_set_bool(arena, json, "x-kubernetes-preserve-unknown-fields", true);
    if (object->embedded)
        json_set_bool(arena, json, "x-kubernetes-embedded-resource", true);
    return json;
}

/* Returns the kinds whose objects have this type. */
static struct json *kinds_of(struct openapi_types *types, const struct schema_object *object)
{
    struct arena *arena = types->arena;
    struct json *kinds = json_array(arena);
    const struct kube_kind *resource;
    for (size_t i = 0; (resource = registry_at(types->registry, i)); i++) {
        const struct kube_resource *id = &resource->id;
        if (resource->schema == object)
            json_append(kinds, openapi_group_version_kind(arena, id->group, id->version, id->kind));
        for (const struct kube_older_version *older = resource->older; older && older->version;
             older++)
            if (older->schema == object)
                json_append(kinds,
                            openapi_group_version_kind(arena, id->group, older->version, id->kind));
    }
    const struct type_kind *kind;
    for (size_t i = 0; kinds->count == 0 && (kind = types_message_at(i)); i++)
        if (kind->object == object)
            json_append(kinds,
                        openapi_group_version_kind(arena, kind->group, kind->version, kind->kind));
    return kinds;
}

static void define_type(struct openapi_types *types, const struct schema_object *object,
                        const char *name)
{
    bool before = types->custom;
    types->custom = !object->name;
    struct json *json = write_object_type(types, object), *kinds = kinds_of(types, object);
    types->custom = before;
    if (kinds->count > 0)
        json_set(types->arena, json, KINDS, kinds);
    json_set(types->arena, types->definitions, name, json);
}

struct json *openapi_refer(struct openapi_types *types, const struct schema_object *object)
{
    if (mark_defined(types, object))
        define_type(types, object, object->name);
    return make_reference(types, object->name);
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* Returns the name of a kind's type. If the type has no name, builds it from the reversed group,
 * the version and the kind: "com.example.v1.Lamp". */
static const char *name_of_kind(struct arena *arena, const struct kube_kind *resource)
{
    const struct kube_resource *id = &resource->id;
    if (resource->schema->name)
        return resource->schema->name;
    size_t count;
    char **pieces = str_split(arena, id->group, '.', &count);
    const char *name = arena_printf(arena, "%s.%s", id->version, id->kind);
    for (size_t i = 0; i < count; i++)
        name = arena_printf(arena, "%s.%s", pieces[i], name);
    return name;
}

struct json *openapi_refer_kind(struct openapi_types *types, const struct kube_kind *resource)
{
    const char *name = name_of_kind(types->arena, resource);
    if (mark_defined(types, resource->schema))
        define_type(types, resource->schema, name);
    return make_reference(types, name);
}

static struct json *write_kind_list(struct openapi_types *types, const struct kube_kind *resource)
{
    struct arena *arena = types->arena;
    const struct kube_resource *id = &resource->id;
    struct json *list = write_object_type(types, &TYPE_LIST), *kinds = json_array(arena);
    struct json *items = json_at(list, "properties", "items", NULL);
    json_set(arena, items, "items", openapi_refer_kind(types, resource));
    json_append(kinds,
                openapi_group_version_kind(arena, id->group, id->version, resource->list_kind));
    json_set(arena, list, KINDS, kinds);
    return list;
}

struct json *openapi_refer_list(struct openapi_types *types, const struct kube_kind *resource)
{
    const char *name = arena_printf(types->arena, "%sList", name_of_kind(types->arena, resource));
    /* A list type has no struct schema_object of its own, so `resource` marks the list type as
     * defined. */
    if (mark_defined(types, resource))
        json_set(types->arena, types->definitions, name, write_kind_list(types, resource));
    return make_reference(types, name);
}
