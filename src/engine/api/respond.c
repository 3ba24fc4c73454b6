/* Answers: an object as JSON or as a Table, an error as a Status with what it is about. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "kube/object.h"
#include "kube/status.h"
#include "kube/table/table.h"

#include <inttypes.h>
#include <string.h>

enum { ANSWER_MAX = 256 * 1024 * 1024, PIECE_MAX = 256 * 1024 };

static const char JSON_TYPE[] = "application/json";

static void respond(struct http_exchange *exchange, int status, const struct http_header *more,
                    const char *data, size_t size)
{
    http_begin(exchange, status, JSON_TYPE, more, (int64_t)size);
    http_write(exchange, data, size);
    http_end(exchange);
}

static void respond_tree(struct http_exchange *exchange, int status, const struct http_header *more,
                         const struct json *json)
{
    _cleanup_buf_ struct buf body;
    buf_init(&body, ANSWER_MAX);
    json_write(json, &body);
    buf_append_char(&body, '\n');
    if (body.overflowed) {
        struct err err;
        err_set(&err, ERR_TOO_LARGE,
                "the answer is larger than %d bytes: ask for less with a "
                "selector",
                ANSWER_MAX);
        engine_respond_error(exchange, &err);
        return;
    }
    respond(exchange, status, more, body.data, body.size);
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

/* Whether a refusal of this sort says what it is about, as upstream: the others are about the
 * request, not about an object. */
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

void rest_respond_error(struct rest *rest, const struct err *err)
{
    const struct kube_kind *resource =
        rest->about_resource ? rest->about_resource : rest->route.resource;
    static const struct kube_kind nothing = {.id = {.group = "", .kind = ""}};
    const char *name = rest->about_name ? rest->about_name : rest->route.name;
    if (rest->about_nothing) {
        resource = &nothing;
        name = "";
    }
    struct kube_status_details details = {
        .name = name,
        .group = resource->id.group[0] ? resource->id.group : NULL,
        .kind = resource->id.plural,
    };
    struct json *status;
    if (err->code == ERR_BAD_REQUEST && rest->unknown) {
        details = (struct kube_status_details){.causes = rest_unknown_causes(rest)};
        status = kube_status_from_err(rest->arena, err, details.causes->count ? &details : NULL);
        json_set_string(rest->arena, status, "message", rest_unknown_text(rest));
    } else if (err->code == ERR_TIMEOUT) {
        status = rest_too_new_status(rest->arena, err);
    } else if (!has_details(err->code) && !rest->about_nothing) {
        status = kube_status_from_err(rest->arena, err, NULL);
    } else if (err->code == ERR_INVALID && rest->invalid.count > 0) {
        details.kind = resource->id.kind;
        details.causes = field_errors_causes(&rest->invalid);
        status = kube_status_from_err(rest->arena, err, &details);
        /* A long list of complaints does not fit an err; it is written here in full. */
        json_set_string(rest->arena, status, "message",
                        arena_printf(rest->arena, "%s%s%s \"%s\" is invalid: %s", resource->id.kind,
                                     details.group ? "." : "", details.group ? details.group : "",
                                     name ? name : "", field_errors_text(&rest->invalid)));
    } else {
        /* Of what is invalid kubectl prints the causes and nothing else. */
        struct json *causes = json_array(rest->arena);
        kube_status_add_cause(rest->arena, causes, "FieldValueInvalid", "request", err->message);
        details.causes = err->code == ERR_INVALID && !rest->about_nothing ? causes : NULL;
        status = kube_status_from_err(rest->arena, err, &details);
    }
    int64_t wait_s = json_get_int(json_get(status, "details"), "retryAfterSeconds", 0);
    if (wait_s > 0)
        http_header_add(rest->arena, &rest->warnings, "Retry-After",
                        arena_printf(rest->arena, "%" PRId64, wait_s));
    respond_tree(rest->exchange, err_info(err->code)->http_status, rest->warnings, status);
}

static void respond_table(struct rest *rest, int status, const struct json *object)
{
    struct err err = ERR_INIT;
    enum kube_include include;
    if (kube_include_parse(rest_query(rest, "includeObject"), &include, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    const struct kube_columns *columns = rest_columns(rest);
    struct json *meta = json_object(rest->arena);
    json_set_string(rest->arena, meta, "resourceVersion", kube_meta_resource_version(object));
    struct json *table = kube_table_new(rest->arena, columns, meta, true);
    kube_table_add(rest->arena, table, columns, object, include,
                   loop_wall_ms(engine_loop(rest->engine)));
    respond_tree(rest->exchange, status, rest->warnings, table);
}

void rest_respond_bytes(struct rest *rest, int status, const char *data, size_t size)
{
    if (!rest->table && !rest->partial && !rest_converts(rest, data, size)) {
        respond(rest->exchange, status, rest->warnings, data, size);
        return;
    }
    struct err err = ERR_INIT;
    struct json *object;
    if (json_parse(rest->arena, data, size, NULL, &object, &err) < 0)
        rest_respond_error(rest, &err);
    else
        rest_respond_json(rest, status, object);
}

/* A large object on its way to the client. The bytes are the store's: a copy of all of them would
 * cost the loop milliseconds. */
struct pieces {
    struct store_object *object;
    const char *data;
    size_t left;
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
    http_end(exchange); /* the memory of `pieces` goes with it */
}

void rest_respond_stored(struct rest *rest, int status, const struct store_object *object)
{
    struct http_exchange *exchange = rest->exchange;
    const char *data = store_object_data(object, rest->arena);
    if (object->size <= PIECE_MAX || rest->table || rest->partial ||
        rest_converts(rest, data, object->size)) {
        rest_respond_bytes(rest, status, data, object->size);
        return;
    }
    struct pieces *pieces = ARENA_NEW(rest->arena, struct pieces);
    /* A reference changes nothing that a reader of the object sees. */
    *pieces = (struct pieces){store_object_ref((struct store_object *)object), data, object->size};
    exchange->context = pieces;
    exchange->on_drain = pieces_write;
    exchange->on_cancel = pieces_canceled;
    http_begin(exchange, status, JSON_TYPE, rest->warnings, (int64_t)object->size);
    pieces_write(exchange);
}

void rest_respond_json(struct rest *rest, int status, const struct json *json)
{
    if (rest->route.older || rest->route.resource->definition) {
        struct json *seen = json_clone(rest->arena, json);
        rest_convert_out(rest, rest->arena, seen);
        json = seen;
    }
    const char *kind = json_get_string(json, "kind", "");
    bool whole = str_eq(kind, rest->route.resource->id.kind);
    if (rest->partial && whole)
        json = rest_as_partial(rest, rest->arena, json);
    if (rest->table && !kube_status_is_status(json) && !str_eq(kind, "Table"))
        respond_table(rest, status, json);
    else
        respond_tree(rest->exchange, status, rest->warnings, json);
}
