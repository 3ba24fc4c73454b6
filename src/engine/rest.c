/* What the verbs share: keys, reading the store and the body, the common errors, and the way from a
 * route to its verb. */
#include "engine/rest.h"

#include "base/str.h"
#include "base/yaml.h"
#include "kube/object.h"
#include "kube/schema_protobuf.h"

#include <string.h>
#include <strings.h>

char *rest_key(struct arena *arena, const struct registry_resource *resource,
               const char *namespace_, const char *name)
{
    if (!resource->id.namespaced)
        return arena_printf(arena, "/%s/%s", resource->storage, name ? name : "");
    if (namespace_[0] == '\0')
        return arena_printf(arena, "/%s/", resource->storage);
    return arena_printf(arena, "/%s/%s/%s", resource->storage, namespace_, name ? name : "");
}

const char *rest_query(const struct rest *rest, const char *name)
{
    return http_query_get(rest->arena, rest->exchange->request->query, name);
}

int rest_not_found(struct rest *rest, const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found",
                   kube_resource_text(rest->arena, &rest->route.resource->id), name);
}

int rest_conflict(struct rest *rest, const char *name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   kube_resource_text(rest->arena, &rest->route.resource->id), name);
}

int rest_parse(struct arena *arena, const struct store_object *stored, struct json **ret,
               struct err *err)
{
    int r = json_parse(arena, store_object_data(stored, arena), stored->size, NULL, ret, err);
    if (r < 0) {
        err_wrap(err, "stored object '%s'", stored->key);
        /* What we stored ourselves cannot be the client's mistake. */
        return err_set(err, ERR_INTERNAL, "%s", arena_strdup(arena, err->message));
    }
    return 0;
}

int rest_load(struct rest *rest, const char *name, struct json **ret, int64_t *ret_revision,
              struct err *err)
{
    const char *key = rest_key(rest->arena, rest->route.resource, rest->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    if (!stored)
        return rest_not_found(rest, name, err);
    int r = rest_parse(rest->arena, stored, ret, err);
    *ret_revision = stored->revision;
    store_object_unref(stored);
    if (r == 0 && rest->route.resource->definition)
        rest_convert_out(rest, rest->arena, *ret);
    return r;
}

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF };

static int body_type(const struct rest *rest, enum body_type *ret, struct err *err)
{
    static const char *const TYPES[] = {
        [BODY_JSON] = "application/json",
        [BODY_YAML] = "application/yaml",
        [BODY_PROTOBUF] = "application/vnd.kubernetes.protobuf",
    };
    const char *type = http_header_get(rest->exchange->request->headers, "Content-Type");
    size_t size = type ? strcspn(type, "; ") : 0;
    *ret = BODY_JSON;
    if (size == 0)
        return 0;
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        if (size == strlen(TYPES[i]) && strncasecmp(type, TYPES[i], size) == 0) {
            *ret = (enum body_type)i;
            return 0;
        }
    return err_set(err, ERR_MEDIA_TYPE,
                   "the body of the request was in an unknown format - accepted media types "
                   "include: %s, %s, %s",
                   TYPES[BODY_JSON], TYPES[BODY_YAML], TYPES[BODY_PROTOBUF]);
}

int rest_parse_yaml(struct rest *rest, struct json **ret, struct err *err)
{
    const struct http_request *request = rest->exchange->request;
    const struct source source = {"body", request->body, request->body_size, false};
    struct json *documents;
    int r = yaml_parse(rest->arena, &source, NULL, &documents, err);
    if (r < 0) {
        err_wrap(err, "error decoding YAML");
        return err_set(err, ERR_BAD_REQUEST, "%s", arena_strdup(rest->arena, err->message));
    }
    if (documents->count != 1 || documents->first->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST,
                       "error decoding YAML: the body must be one object, as YAML or JSON");
    *ret = documents->first;
    return 0;
}

int rest_read_any(struct rest *rest, struct json **ret, struct err *err)
{
    const struct http_request *request = rest->exchange->request;
    if (request->body_size == 0) {
        *ret = NULL;
        return 0;
    }
    enum body_type type = BODY_JSON;
    int r = body_type(rest, &type, err);
    if (r < 0)
        return r;
    if (type == BODY_PROTOBUF)
        return schema_protobuf_read_body(rest->arena, request->body, request->body_size, ret, err);
    if (type == BODY_YAML)
        return rest_parse_yaml(rest, ret, err);
    struct json *body;
    r = json_parse(rest->arena, request->body, request->body_size, NULL, &body, err);
    if (r < 0)
        return err_wrap(err, "the body of the request cannot be read as JSON");
    if (body->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "the body of the request must be an object, not %s",
                       json_type_name(body->type));
    *ret = body;
    return 0;
}

const char *rest_api_version(const struct rest *rest)
{
    return rest->route.older ? rest->route.older->api_version : rest->route.resource->api_version;
}

void rest_convert_in(struct rest *rest, struct arena *arena, struct json *object)
{
    if (!rest->route.older)
        return;
    rest->route.older->convert(arena, object);
    json_set_string(arena, object, "apiVersion", rest->route.resource->api_version);
}

void rest_convert_out(const struct rest *rest, struct arena *arena, struct json *object)
{
    if ((rest->route.older || rest->route.resource->definition) &&
        str_eq(json_get_string(object, "kind", ""), rest->route.resource->id.kind))
        json_set_string(arena, object, "apiVersion", rest_api_version(rest));
}

/* A custom resource may be stored in any version its definition ever had. */
bool rest_converts(const struct rest *rest, const char *data, size_t size)
{
    static const char begin[] = "{\"apiVersion\":\"";
    const struct registry_resource *resource = rest->route.resource;
    size_t head = sizeof(begin) - 1, length = strlen(resource->api_version);
    if (!resource->definition)
        return rest->route.older != NULL;
    return size <= head + length || memcmp(data, begin, head) != 0 ||
           memcmp(data + head, resource->api_version, length) != 0 || data[head + length] != '"';
}

void rest_append_stored(const struct rest *rest, struct arena *scratch,
                        const struct store_object *stored, struct buf *buf)
{
    const char *data = store_object_data(stored, scratch);
    struct json *object;
    if (rest_converts(rest, data, stored->size) &&
        json_parse(scratch, data, stored->size, NULL, &object, NULL) == 0) {
        rest_convert_out(rest, scratch, object);
        json_write(object, buf);
    } else {
        buf_append(buf, data, stored->size);
    }
}

/* apiVersion and kind may be missing, since the path says them; they may not be others. */
static int check_kind(struct rest *rest, struct json *body, struct err *err)
{
    const struct registry_resource *resource = rest->route.resource;
    const char *kind = json_get_string(body, "kind", "");
    const char *version = json_get_string(body, "apiVersion", "");
    if ((kind[0] && !str_eq(kind, resource->id.kind)) ||
        (version[0] && !str_eq(version, rest_api_version(rest))))
        return err_set(err, ERR_BAD_REQUEST,
                       "%.100s in version \"%.100s\" cannot be handled as a %s of version \"%s\"",
                       kind, version, resource->id.kind, rest_api_version(rest));
    rest_convert_in(rest, rest->arena, body);
    kube_object_set_kind(rest->arena, body, &resource->id);
    return 0;
}

int rest_read_body(struct rest *rest, struct json **ret, struct err *err)
{
    struct json *body = NULL;
    int r = rest_read_any(rest, &body, err);
    if (r < 0)
        return r;
    if (!body)
        return err_set(err, ERR_BAD_REQUEST, "the request has no body; it must be a %s",
                       rest->route.resource->id.kind);
    r = check_kind(rest, body, err);
    if (r < 0)
        return r;
    *ret = body;
    return 0;
}

static void dispatch(struct rest *rest)
{
    switch (rest->route.sub) {
    case SUB_LOG:
        rest_log(rest);
        return;
    case SUB_PORT_FORWARD:
        rest_port_forward(rest);
        return;
    case SUB_BINDING:
        rest_bind(rest);
        return;
    case SUB_TOKEN:
        rest_token(rest);
        return;
    case SUB_EVICTION:
        rest_evict(rest);
        return;
    case SUB_SCALE:
        rest_scale(rest);
        return;
    case SUB_NONE:
    case SUB_STATUS:
    case SUB_FINALIZE:
        break;
    }
    switch (rest->route.verb) {
    case VERB_GET:
        rest_get(rest);
        return;
    case VERB_LIST:
        rest_list(rest);
        return;
    case VERB_WATCH:
        rest_watch(rest);
        return;
    case VERB_CREATE:
        if (rest->route.resource->transient)
            rest_review(rest);
        else
            rest_create(rest);
        return;
    case VERB_UPDATE:
        rest_update(rest);
        return;
    case VERB_PATCH:
        rest_patch(rest);
        return;
    case VERB_DELETE:
        rest_delete(rest);
        return;
    case VERB_DELETE_COLLECTION:
        rest_delete_collection(rest);
        return;
    }
}

static int read_dry_run(struct rest *rest, struct err *err)
{
    const char *dry_run = rest_query(rest, "dryRun");
    if (dry_run && !str_eq(dry_run, "All"))
        return err_set(err, ERR_BAD_REQUEST, "dryRun: \"%.100s\" is not known, it must be \"All\"",
                       dry_run);
    rest->dry_run = dry_run != NULL;
    return 0;
}

static bool answers_with_objects(enum registry_sub sub)
{
    return sub != SUB_LOG && sub != SUB_PORT_FORWARD;
}

void rest_handle(struct engine *engine, struct http_exchange *exchange,
                 const struct identity *identity, const struct route *route)
{
    struct rest *rest = ARENA_NEW(exchange->arena, struct rest);
    rest->engine = engine;
    rest->exchange = exchange;
    rest->arena = exchange->arena;
    rest->identity = identity;
    rest->route = *route;
    registry_hold(rest->arena, route->resource);
    field_errors_init(&rest->invalid, rest->arena);
    struct err err = ERR_INIT;
    if (!rest_is_allowed(rest))
        return;
    if (route->resource->warning)
        rest_warn(rest, route->resource->warning);
    if (read_dry_run(rest, &err) < 0 ||
        (answers_with_objects(route->sub) && rest_choose_form(rest, &err) < 0))
        rest_respond_error(rest, &err);
    else
        dispatch(rest);
}
