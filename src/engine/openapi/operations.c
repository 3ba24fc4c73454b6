/* Writes one operation of a path; see operations.h. */
#include "engine/openapi/operations.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/types/types.h"

#include <ctype.h>
#include <string.h>

enum {
    WRITES = VERB_CREATE | VERB_UPDATE | VERB_PATCH,
    DELETES = VERB_DELETE | VERB_DELETE_COLLECTION,
    MANY = VERB_LIST | VERB_DELETE_COLLECTION,
};

static const struct parameter {
    const char *name, *type, *doc;
    unsigned verbs; /* 0: a parameter of pods/NAME/log */
} PARAMETERS[] = {
    {"dryRun", "string", "All: check the request but do not store the result", WRITES | DELETES},
    {"fieldManager", "string", "the name of the manager of the fields that are set", WRITES},
    {"fieldValidation", "string",
     "how unknown fields are handled: Ignore, Warn, or Strict (rejected)", WRITES},
    {"force", "boolean", "take over fields of other managers", VERB_PATCH},
    {"gracePeriodSeconds", "integer", "seconds until the object is deleted", DELETES},
    {"propagationPolicy", "string", "how dependents are deleted: Orphan, Background or Foreground",
     DELETES},
    {"labelSelector", "string", "only objects whose labels match", MANY},
    {"fieldSelector", "string", "only objects whose fields match", MANY},
    {"limit", "integer", "maximum number of objects; the answer has a token for the rest", MANY},
    {"continue", "string", "the token of an earlier answer: return the next objects", MANY},
    {"resourceVersion", "string", "the version of the data to start from", MANY},
    {"resourceVersionMatch", "string", "how resourceVersion is applied: Exact or NotOlderThan",
     MANY},
    {"timeoutSeconds", "integer", "seconds until the request ends", MANY},
    {"watch", "boolean", "report changes as they happen instead of a list", VERB_LIST},
    {"allowWatchBookmarks", "boolean", "send bookmark events with the current version", VERB_LIST},
    {"sendInitialEvents", "boolean", "start a watch with the objects that exist", VERB_LIST},
    {"container", "string", "the container of the pod", 0},
    {"follow", "boolean", "continue with output that is written later", 0},
    {"previous", "boolean", "the log of the container before its last restart", 0},
    {"tailLines", "integer", "number of lines from the end of the log", 0},
    {"limitBytes", "integer", "maximum number of bytes", 0},
    {"sinceSeconds", "integer", "only lines of the last seconds", 0},
    {"sinceTime", "string", "only lines since this time", 0},
    {"timestamps", "boolean", "start each line with its time", 0},
};

/* The HTTP method of each verb, and the words for its operation: `name` and `action` are those of
 * Kubernetes, and `doc` is the beginning of the description. */
static const struct verb_words {
    enum kube_verb verb;
    const char *method, *name, *action, *doc;
} VERBS[] = {
    {VERB_CREATE, "post", "create", "post", "create a new"},
    {VERB_DELETE, "delete", "delete", "delete", "delete a"},
    {VERB_DELETE_COLLECTION, "delete", "deleteCollection", "deletecollection", "delete every"},
    {VERB_GET, "get", "read", "get", "read a"},
    {VERB_LIST, "get", "list", "list", "list or watch every"},
    {VERB_PATCH, "patch", "patch", "patch", "change parts of a"},
    {VERB_UPDATE, "put", "replace", "put", "replace a"},
};

static const struct verb_words *words_of(enum kube_verb verb)
{
    for (size_t i = 0; i < ARRAY_SIZE(VERBS); i++)
        if (VERBS[i].verb == verb)
            return &VERBS[i];
    return NULL;
}

const char *openapi_method(enum kube_verb verb)
{
    const struct verb_words *words = words_of(verb);
    return words ? words->method : NULL;
}

/* Returns whether the operation is a "connect" of Kubernetes, such as exec or proxy. The kind of
 * such a subresource ends with "Options", such as PodExecOptions. */
static bool operation_connects(const struct openapi_operation *operation)
{
    return operation->sub && str_has_suffix(operation->sub->kind, "Options");
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static struct json *write_parameter(struct openapi_types *types, const char *in, const char *name,
                                    const char *type, const char *doc)
{
    struct arena *arena = types->arena;
    struct json *parameter = json_object(arena);
    json_set_string(arena, parameter, "name", name);
    json_set_string(arena, parameter, "in", in);
    json_set_string(arena, parameter, "description", doc);
    struct json *typed =
        types->version == OPENAPI_V2 ? parameter : json_ensure_object(arena, parameter, "schema");
    json_set_string(arena, typed, "type", type);
    json_set_bool(arena, typed, "uniqueItems", true);
    return parameter;
}

struct json *openapi_path_parameter(struct openapi_types *types, const char *name, const char *doc)
{
    struct json *parameter = write_parameter(types, "path", name, "string", doc);
    json_set_bool(types->arena, parameter, "required", true);
    return parameter;
}

static struct json *write_query(struct openapi_types *types,
                                const struct openapi_operation *operation)
{
    bool is_log = operation->sub && operation->sub->id == SUB_LOG;
    struct json *list = json_array(types->arena);
    for (size_t i = 0; i < ARRAY_SIZE(PARAMETERS); i++) {
        const struct parameter *parameter = &PARAMETERS[i];
        if (is_log ? parameter->verbs == 0 : (parameter->verbs & operation->verb) != 0)
            json_append(list, write_parameter(types, "query", parameter->name, parameter->type,
                                              parameter->doc));
    }
    return list;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static const char *const JSON_TYPES[] = {"application/json", NULL};
static const char *const BODY_TYPES[] = {"application/json", "application/vnd.kubernetes.protobuf",
                                         NULL};
static const char *const TEXT_TYPES[] = {"text/plain", NULL};
/* Custom resources do not accept the last type, the strategic merge patch. kubectl sends only types
 * from this list. */
static const char *const PATCH_TYPES[] = {
    "application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
    "application/strategic-merge-patch+json", NULL};
static const char *const CUSTOM_PATCH_TYPES[] = {"application/json-patch+json",
                                                 "application/merge-patch+json",
                                                 "application/apply-patch+yaml", NULL};

static struct json *make_strings(struct arena *arena, const char *const *list)
{
    struct json *array = json_array(arena);
    for (; *list; list++)
        json_append(array, json_string(arena, *list));
    return array;
}

/* Makes the content of a body in OpenAPI version 3: the schema, once per media type. */
static struct json *make_content(struct arena *arena, const char *const *media, struct json *schema)
{
    struct json *content = json_object(arena);
    for (; *media; media++)
        json_set(arena, json_ensure_object(arena, content, *media), "schema",
                 json_clone(arena, schema));
    return content;
}

static bool is_own_kind(const struct openapi_operation *operation)
{
    return !operation->sub ||
           (!operation->sub->group && str_eq(operation->sub->kind, operation->resource->id.kind));
}

/* Returns a reference to the type of the object that the operation reads or writes. Returns NULL
 * for a log, which is text, and for a subresource without a schema. */
static struct json *refer_object(struct openapi_types *types,
                                 const struct openapi_operation *operation)
{
    const struct kube_kind *resource = operation->resource;
    if (operation->sub && operation->sub->id == SUB_LOG)
        return NULL;
    if (is_own_kind(operation))
        return openapi_refer_kind(types, resource);
    const struct schema_object *object = operation->sub->schema;
    return object ? openapi_refer(types, object) : NULL;
}

static struct json *any_object(struct arena *arena)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "type", "object");
    return json;
}

static struct json *request_schema(struct openapi_types *types,
                                   const struct openapi_operation *operation)
{
    if (operation->verb & DELETES)
        return openapi_refer(types, &TYPE_DELETE_OPTIONS);
    if (operation->verb == VERB_PATCH)
        return any_object(types->arena);
    return operation->verb & WRITES ? refer_object(types, operation) : NULL;
}

static const char *const *request_types(const struct openapi_operation *operation)
{
    if (operation->verb != VERB_PATCH)
        return BODY_TYPES;
    return operation->resource->form == SCHEMA_FORM_TYPED ? PATCH_TYPES : CUSTOM_PATCH_TYPES;
}

static struct json *answer_schema(struct openapi_types *types,
                                  const struct openapi_operation *operation)
{
    if (operation->verb & DELETES)
        return openapi_refer(types, &TYPE_STATUS);
    if (operation->verb == VERB_LIST)
        return openapi_refer_list(types, operation->resource);
    return refer_object(types, operation);
}

static void write_request(struct openapi_types *types, const struct openapi_operation *operation,
                          struct json *json)
{
    struct arena *arena = types->arena;
    struct json *schema = request_schema(types, operation);
    const char *const *media = request_types(operation);
    if (!schema)
        return;
    if (types->version == OPENAPI_V3) {
        json_set(arena, json_ensure_object(arena, json, "requestBody"), "content",
                 make_content(arena, media, schema));
        return;
    }
    struct json *body = json_object(arena);
    json_set_string(arena, body, "name", "body");
    json_set_string(arena, body, "in", "body");
    if (!(operation->verb & DELETES))
        json_set_bool(arena, body, "required", true);
    json_set(arena, body, "schema", schema);
    json_append(json_ensure_array(arena, json, "parameters"), body);
    json_set(arena, json, "consumes", make_strings(arena, media));
}

static void write_answer(struct openapi_types *types, const struct openapi_operation *operation,
                         struct json *json)
{
    struct arena *arena = types->arena;
    bool is_log = operation->sub && operation->sub->id == SUB_LOG;
    const char *const *media = is_log ? TEXT_TYPES : JSON_TYPES;
    struct json *schema = answer_schema(types, operation);
    struct json *answer = json_ensure_object(arena, json_ensure_object(arena, json, "responses"),
                                             operation->verb == VERB_CREATE ? "201" : "200");
    json_set_string(arena, answer, "description",
                    operation->verb == VERB_CREATE ? "Created" : "OK");
    if (is_log) {
        schema = json_object(arena);
        json_set_string(arena, schema, "type", "string");
    }
    if (types->version == OPENAPI_V2)
        json_set(arena, json, "produces", make_strings(arena, media));
    if (schema && types->version == OPENAPI_V2)
        json_set(arena, answer, "schema", schema);
    else if (schema)
        json_set(arena, answer, "content", make_content(arena, media, schema));
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void append_capital(struct buf *name, const char *word, size_t size)
{
    if (size > 0)
        buf_append_char(name, (char)toupper((unsigned char)word[0]));
    if (size > 1)
        buf_append(name, word + 1, size - 1);
}

/* Appends the group without ".k8s.io" in Go's notation: "RbacAuthorization", "KubeflowOrg" or
 * "Core". */
static void append_group(struct buf *name, const char *group)
{
    if (group[0] == '\0')
        group = "core";
    while (*group && !str_eq(group, "k8s.io")) {
        size_t size = 0;
        while (group[size] && group[size] != '.')
            size++;
        append_capital(name, group, size);
        group += size + (group[size] == '.');
    }
}

/* Returns the operationId: "listCoreV1NamespacedPod", "readBatchV1NamespacedJobStatus". */
static struct json *operation_name(struct arena *arena, const struct openapi_operation *operation)
{
    const struct kube_resource *id = &operation->resource->id;
    const struct verb_words *words = words_of(operation->verb);
    const char *sub = operation->sub ? operation->sub->name : "";
    _cleanup_buf_ struct buf name;
    buf_init(&name, 1024);
    buf_append_str(&name, operation_connects(operation) ? "connect" : words->name);
    append_group(&name, id->group);
    append_capital(&name, operation->version, strlen(operation->version));
    if (operation_connects(operation))
        append_capital(&name, words->method, strlen(words->method));
    if (id->namespaced && !operation->everywhere)
        buf_append_str(&name, "Namespaced");
    buf_append_str(&name, id->kind);
    append_capital(&name, sub, strlen(sub));
    if (operation->everywhere)
        buf_append_str(&name, "ForAllNamespaces");
    return json_string(arena, name.data);
}

static struct json *kind_of(struct arena *arena, const struct openapi_operation *operation)
{
    const struct kube_resource *id = &operation->resource->id;
    const struct kube_subresource *sub = operation->sub;
    if (sub && sub->group)
        return openapi_group_version_kind(arena, sub->group, sub->version, sub->kind);
    return openapi_group_version_kind(arena, id->group, operation->version,
                                      sub ? sub->kind : id->kind);
}

struct json *openapi_write_operation(struct openapi_types *types,
                                     const struct openapi_operation *operation)
{
    struct arena *arena = types->arena;
    const struct verb_words *words = words_of(operation->verb);
    const char *subject = operation->resource->id.kind;
    if (operation->sub)
        subject = arena_printf(arena, "%s/%s", subject, operation->sub->name);
    struct json *json = json_object(arena);
    json_set(arena, json, "description",
             json_stringf(arena, "%s %s",
                          operation_connects(operation) ? "connect to a" : words->doc, subject));
    json_set(arena, json, "operationId", operation_name(arena, operation));
    struct json *parameters = write_query(types, operation);
    if (parameters->count > 0 && !operation_connects(operation))
        json_set(arena, json, "parameters", parameters);
    write_request(types, operation, json);
    write_answer(types, operation, json);
    json_set_string(arena, json, "x-kubernetes-action",
                    operation_connects(operation) ? "connect" : words->action);
    json_set(arena, json, "x-kubernetes-group-version-kind", kind_of(arena, operation));
    return json;
}
