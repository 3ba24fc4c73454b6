/* Sends responses: an object as JSON, as a Table or as its metadata; an error as a Status with
 * details; see call.h. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/call.h"
#include "kube/object.h"
#include "kube/status.h"
#include "kube/table/table.h"

#include <inttypes.h>
#include <string.h>

enum {
    RESPONSE_MAX = 256 * 1024 * 1024, /* bytes of a response that is made from a tree */
    PIECE_MAX = 256 * 1024,           /* bytes that api_respond_stored() writes at once */
};

static const char JSON_TYPE[] = "application/json";

static void respond_bytes(struct http_exchange *exchange, int status,
                          const struct http_header *more, const char *data, size_t size)
{
    http_begin(exchange, status, JSON_TYPE, more, (int64_t)size);
    http_write(exchange, data, size);
    http_end(exchange);
}

static void respond_tree(struct http_exchange *exchange, int status, const struct http_header *more,
                         const struct json *json)
{
    _cleanup_buf_ struct buf body;
    buf_init(&body, RESPONSE_MAX);
    json_write(json, &body);
    buf_append_char(&body, '\n');
    if (body.overflowed) {
        struct err err;
        err_set(&err, ERR_TOO_LARGE,
                "the response is larger than %d bytes: ask for fewer objects with a selector",
                RESPONSE_MAX);
        engine_respond_error(exchange, &err);
        return;
    }
    respond_bytes(exchange, status, more, body.data, body.size);
}

void engine_write_refusal(int status, const char *sentence, struct buf *body)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err err;
    err_set(&err, err_code_of_http(status), "%s", sentence);
    struct json *json = kube_status_from_err(arena, &err, NULL);
    json_set_int(arena, json, "code", status);
    json_write(json, body);
    buf_append_char(body, '\n');
}

/* Returns whether a Status with this code names an object, as in Kubernetes. The other codes are
 * about the request. */
static bool has_details(enum err_code code)
{
    switch (code) {
    case ERR_INVALID:
    case ERR_NOT_FOUND:
    case ERR_EXISTS:
    case ERR_CONFLICT:
    case ERR_FORBIDDEN:
    case ERR_METHOD:
    case ERR_TOO_MANY:
        return true;
    default:
        return false;
    }
}

void engine_respond_error(struct http_exchange *exchange, const struct err *err)
{
    static const struct kube_status_details nothing = {0};
    const struct json *status =
        kube_status_from_err(exchange->arena, err, has_details(err->code) ? &nothing : NULL);
    respond_tree(exchange, err_info(err->code)->http_status, NULL, status);
}

void api_respond_error(struct api_call *call, const struct err *err)
{
    const struct kube_kind *resource =
        call->about_resource ? call->about_resource : call->route.resource;
    static const struct kube_kind nothing = {.id = {.group = "", .kind = ""}};
    const char *name = call->about_name ? call->about_name : call->route.name;
    if (call->about_nothing) {
        resource = &nothing;
        name = "";
    }
    struct kube_status_details details = {
        .name = name,
        .group = resource->id.group[0] ? resource->id.group : NULL,
        .kind = resource->id.plural,
    };
    struct json *status;
    if (err->code == ERR_BAD_REQUEST && call->unknown) {
        details = (struct kube_status_details){.causes = api_unknown_fields_causes(call)};
        status = kube_status_from_err(call->arena, err, details.causes->count ? &details : NULL);
        json_set_string(call->arena, status, "message", api_unknown_fields_text(call));
    } else if (err->code == ERR_TIMEOUT) {
        status = api_too_new_status(call->arena, err);
    } else if (!has_details(err->code) && !call->about_nothing) {
        status = kube_status_from_err(call->arena, err, NULL);
    } else if (err->code == ERR_INVALID && call->invalid.count > 0) {
        details.kind = resource->id.kind;
        details.causes = field_errors_causes(&call->invalid);
        status = kube_status_from_err(call->arena, err, &details);
        /* A long list of field errors does not fit into a struct err, so the message is written
         * here in full. */
        json_set_string(call->arena, status, "message",
                        arena_printf(call->arena, "%s%s%s \"%s\" is invalid: %s", resource->id.kind,
                                     details.group ? "." : "", details.group ? details.group : "",
                                     name ? name : "", field_errors_text(&call->invalid)));
    } else {
        /* For an invalid object, kubectl prints only the causes. */
        struct json *causes = json_array(call->arena);
        kube_status_add_cause(call->arena, causes, "FieldValueInvalid", "request", err->message);
        details.causes = err->code == ERR_INVALID && !call->about_nothing ? causes : NULL;
        status = kube_status_from_err(call->arena, err, &details);
    }
    int64_t wait_s = json_get_int(json_get(status, "details"), "retryAfterSeconds", 0);
    if (wait_s > 0)
        http_header_add(call->arena, &call->warnings, "Retry-After",
                        arena_printf(call->arena, "%" PRId64, wait_s));
    respond_tree(call->exchange, err_info(err->code)->http_status, call->warnings, status);
}

/* Responds with a Table that has one row. */
static void respond_table(struct api_call *call, int status, const struct json *object)
{
    struct err err = ERR_INIT;
    enum kube_include include;
    if (kube_include_parse(api_query(call, "includeObject"), &include, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    const struct kube_columns *columns = api_columns(call);
    struct json *meta = json_object(call->arena);
    json_set_string(call->arena, meta, "resourceVersion", kube_meta_resource_version(object));
    struct json *table = kube_table_new(call->arena, columns, meta, true);
    kube_table_add(call->arena, table, columns, object, include,
                   loop_wall_ms(engine_loop(call->engine)));
    respond_tree(call->exchange, status, call->warnings, table);
}

void api_respond_bytes(struct api_call *call, int status, const char *data, size_t size)
{
    if (!call->table && !call->partial && !api_needs_conversion(call, data, size)) {
        respond_bytes(call->exchange, status, call->warnings, data, size);
        return;
    }
    struct err err = ERR_INIT;
    struct json *object;
    if (json_parse(call->arena, data, size, NULL, &object, &err) < 0)
        api_respond_error(call, &err);
    else
        api_respond_json(call, status, object);
}

/* A large object that is being sent in pieces, because writing it at once would block the loop for
 * milliseconds. Allocated in the exchange's arena. */
struct pieces {
    struct store_object *object; /* a reference, which keeps `data` valid */
    const char *data;            /* the next byte to send */
    size_t left;                 /* the number of bytes that are not written yet */
};

static void pieces_canceled(struct http_exchange *exchange)
{
    struct pieces *pieces = exchange->context;
    store_object_unref(pieces->object);
}

static void pieces_write(struct http_exchange *exchange)
{
    struct pieces *pieces = exchange->context;
    size_t size = pieces->left < PIECE_MAX ? pieces->left : PIECE_MAX;
    const char *data = pieces->data;
    pieces->data += size;
    pieces->left -= size;
    http_write(exchange, data, size);
    if (pieces->left)
        return;
    exchange->on_drain = NULL;
    exchange->on_cancel = NULL;
    store_object_unref(pieces->object);
    http_end(exchange); /* also frees the arena with `pieces` */
}

void api_respond_stored(struct api_call *call, int status, const struct store_object *object)
{
    struct http_exchange *exchange = call->exchange;
    const char *data = store_object_data(object, call->arena);
    if (object->size <= PIECE_MAX || call->table || call->partial ||
        api_needs_conversion(call, data, object->size)) {
        api_respond_bytes(call, status, data, object->size);
        return;
    }
    struct pieces *pieces = ARENA_NEW(call->arena, struct pieces);
    /* The cast is safe: a reference only changes the object's reference count. */
    *pieces = (struct pieces){store_object_ref((struct store_object *)object), data, object->size};
    exchange->context = pieces;
    exchange->on_drain = pieces_write;
    exchange->on_cancel = pieces_canceled;
    http_begin(exchange, status, JSON_TYPE, call->warnings, (int64_t)object->size);
    pieces_write(exchange);
}

void api_respond_json(struct api_call *call, int status, const struct json *json)
{
    if (call->route.older || call->route.resource->definition) {
        struct json *converted = json_clone(call->arena, json);
        api_convert_out(call, call->arena, converted);
        json = converted;
    }
    const char *kind = json_get_string(json, "kind", "");
    bool is_route_kind = str_eq(kind, call->route.resource->id.kind);
    if (call->partial && is_route_kind)
        json = api_as_partial(call, call->arena, json);
    if (call->table && !kube_status_is_status(json) && !str_eq(kind, "Table"))
        respond_table(call, status, json);
    else
        respond_tree(call->exchange, status, call->warnings, json);
}
