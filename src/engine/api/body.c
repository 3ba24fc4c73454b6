/* Reads the body of a request (JSON, YAML or protobuf) as an object of the expected kind. Errors
 * have Kubernetes' messages. */
#include "base/buf.h"
#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/write.h"
#include "kube/object.h"
#include "kube/schema/json_duplicates.h"
#include "kube/schema/json_syntax_error.h"
#include "kube/schema/protobuf.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    SUMMARY_MAX = 30,         /* bytes of the body in an error message */
    RESERVED_MIN = 16 * 1024, /* bytes; no memory is reserved for a smaller body */
};

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF };

static const char *const MEDIA_TYPES[] = {
    [BODY_JSON] = "application/json",
    [BODY_YAML] = "application/yaml",
    [BODY_PROTOBUF] = "application/vnd.kubernetes.protobuf",
};

/* Sets *ret to the type that the Content-Type names, or to BODY_JSON if there is none. Returns
 * -ERR_MEDIA_TYPE for an unknown type. */
static int body_type(const struct api_call *call, enum body_type *ret, struct err *err)
{
    const char *type = http_header_get(call->exchange->request->headers, "Content-Type");
    size_t size = type ? strcspn(type, "; ") : 0;
    bool custom = call->route.resource->form != SCHEMA_FORM_TYPED;
    *ret = BODY_JSON;
    if (size == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(MEDIA_TYPES); i++)
        if (strlen(MEDIA_TYPES[i]) == size && strncasecmp(type, MEDIA_TYPES[i], size) == 0) {
            *ret = (enum body_type)i;
            return 0;
        }
    return err_set(err, ERR_MEDIA_TYPE,
                   "the body of the request was in an unknown format - accepted media types "
                   "include: %s, %s%s%s",
                   MEDIA_TYPES[BODY_JSON], MEDIA_TYPES[BODY_YAML], custom ? "" : ", ",
                   custom ? "" : MEDIA_TYPES[BODY_PROTOBUF]);
}

/* Returns the beginning of the body, as text if it looks like an object, otherwise in hexadecimal
 * digits. */
static const char *body_summary(struct arena *arena, const char *body, size_t size)
{
    size_t shown = size < SUMMARY_MAX ? size : SUMMARY_MAX;
    const char *more = shown < size ? " ..." : "";
    char hex[SUMMARY_MAX * 2 + 1] = "";
    if (size == 0)
        return "<empty>";
    if (body[0] == '{')
        return arena_printf(arena, "%.*s%s", (int)shown, body, more);
    for (size_t i = 0; i < shown; i++)
        snprintf(hex + i * 2, 3, "%02x", (unsigned char)body[i]);
    return arena_printf(arena, "%s%s", hex, more);
}

/* Returns -ERR_BAD_REQUEST for a body that is not an object of the kind. */
static int body_reject(struct api_call *call, const char *kind, const char *why, struct err *err)
{
    const struct http_request *request = call->exchange->request;
    return err_set(err, ERR_BAD_REQUEST,
                   "the object provided is unrecognized (must be of type %s): couldn't get "
                   "version/kind; json parse error: %s (%s)",
                   kind, why, body_summary(call->arena, request->body, request->body_size));
}

/* Estimates how many values the tree of a body will have. The estimate is never too low for JSON,
 * and rough for YAML and protobuf. Does not count commas and brackets within JSON strings. */
static size_t count_values(const char *body, size_t size)
{
    bool is_json = body[0] == '{' || body[0] == '[', in_string = false;
    size_t count = 1;
    for (size_t i = 0; i < size; i++) {
        char c = body[i];
        if (is_json && c == '"')
            in_string = !in_string;
        else if (in_string)
            i += c == '\\';
        else
            count += c == ',' || c == '{' || c == '[' || (!is_json && c == '\n');
    }
    return count;
}

int api_reserve_body(struct api_call *call, struct err *err)
{
    const struct http_request *request = call->exchange->request;
    size_t size = request->body_size;
    if (size < RESERVED_MIN)
        return 0;
    return api_reserve(call, size + count_values(request->body, size) * sizeof(struct json), err);
}

int api_read_json(struct api_call *call, struct json **ret, struct err *err)
{
    const struct http_request *request = call->exchange->request;
    int result = json_parse(call->arena, request->body, request->body_size, NULL, ret, err);
    if (result == 0)
        return 0;
    const char *problem = kube_json_syntax_error(call->arena, request->body, request->body_size);
    if (problem)
        return err_set(err, ERR_BAD_REQUEST, "%s", problem);
    return kube_json_duplicates_parse(call->arena, request->body, request->body_size, ret,
                                      &call->duplicates, err);
}

int api_parse_yaml(struct api_call *call, struct json **ret, struct err *err)
{
    static const struct json_limits with_repeats = {.repeats = true};
    const struct http_request *request = call->exchange->request;
    const struct source source = {"body", request->body, request->body_size, false};
    struct json *documents;
    int result = yaml_parse(call->arena, &source, NULL, &documents, NULL);
    bool repeats = result < 0;
    if (repeats)
        result = yaml_parse(call->arena, &source, &with_repeats, &documents, err);
    if (result < 0) {
        err_wrap(err, "error decoding YAML");
        return err_set(err, ERR_BAD_REQUEST, "%s", arena_strdup(call->arena, err->message));
    }
    if (documents->count != 1 || documents->first->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST,
                       "error decoding YAML: the body must be one object, as YAML or JSON");
    call->yaml = true;
    if (repeats)
        kube_yaml_duplicates_remove(call->arena, documents->first, &call->duplicates);
    *ret = documents->first;
    return 0;
}

int api_read_body_as(struct api_call *call, const char *kind, struct json **ret, struct err *err)
{
    static const char go_type[] =
        "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
        "Kind string \"json:\\\"kind,omitempty\\\"\" }";
    const struct http_request *request = call->exchange->request;
    if (request->body_size == 0) {
        *ret = NULL;
        return 0;
    }
    enum body_type type = BODY_JSON;
    int result = body_type(call, &type, err);
    if (result < 0)
        return result;
    if (type == BODY_PROTOBUF)
        return schema_protobuf_read_body(call->arena, registry_find_type,
                                         engine_registry(call->engine), request->body,
                                         request->body_size, ret, err);
    if (type == BODY_YAML)
        return api_parse_yaml(call, ret, err);
    struct json *body;
    result = api_read_json(call, &body, err);
    if (result < 0)
        return body_reject(call, kind, arena_strdup(call->arena, err->message), err);
    if (body->type != JSON_OBJECT)
        return body_reject(call, kind, kube_json_type_error(call->arena, body, go_type), err);
    *ret = body;
    return 0;
}

char *api_no_conversion_text(struct api_call *call, const char *kind, const char *api_version)
{
    const struct kube_resource *id = &call->route.resource->id;
    const char *slash = strchr(api_version, '/');
    size_t size = strcspn(id->group, ".");
    return arena_printf(call->arena, "converting (%.100s.%.100s) to (%.*s.%s): unknown conversion",
                        slash ? slash + 1 : api_version, kind, (int)(size ? size : 4),
                        size ? id->group : "core", id->kind);
}

/* Checks that apiVersion and kind match the path of the request, unless they are missing. Sets them
 * and converts the object into the version of the route's resource. */
static int body_set_kind(struct api_call *call, struct json *body, struct err *err)
{
    const struct kube_kind *resource = call->route.resource;
    const char *kind = json_get_string(body, "kind", "");
    const char *version = json_get_string(body, "apiVersion", "");
    const char *slash = strchr(version, '/');
    if (kind[0] && !str_eq(kind, resource->id.kind))
        return err_set(err, ERR_BAD_REQUEST,
                       "%.100s in version \"%.100s\" cannot be handled as a %s: %s", kind,
                       slash ? slash + 1 : version, resource->id.kind,
                       api_no_conversion_text(call, kind, version));
    if (version[0] && !str_eq(version, api_call_version(call)))
        return err_set(err, ERR_BAD_REQUEST,
                       "the API version in the data (%.100s) does not match the expected API "
                       "version (%s)",
                       version, api_call_version(call));
    api_convert_in(call, call->arena, body);
    kube_object_set_kind(call->arena, body, &resource->id);
    return 0;
}

int api_read_body(struct api_call *call, struct json **ret, struct err *err)
{
    struct json *body = NULL;
    const char *kind = call->route.resource->id.kind;
    int result = api_read_body_as(call, kind, &body, err);
    if (result < 0)
        return result;
    if (!body)
        return body_reject(call, kind, "unexpected end of JSON input", err);
    result = body_set_kind(call, body, err);
    if (result < 0)
        return result;
    *ret = body;
    return 0;
}
