/* LIST: the stored bytes joined into a list, or a Table of them, all at once or in parts. An object
 * that cannot be read is left out and named in a Warning. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/list_page.h"
#include "engine/rest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 256 * 1024 * 1024,
    /* A client that asks for a part gets one of about so many bytes, whatever its limit: so every
     * list can be read, in parts, however large its objects are. */
    PART_BYTES = 32 * 1024 * 1024,
};

/* The newest state is what there is: an older one may be asked for exactly only in vain. */
static int check_version(struct rest *rest, int64_t current, struct err *err)
{
    int64_t asked;
    int r = rest_check_version(rest, &asked, err);
    if (r < 0)
        return r;
    if (asked != current && !str_is_empty(rest_query(rest, "resourceVersion")) &&
        str_eq(rest_query(rest, "resourceVersionMatch"), "Exact"))
        return err_set(err, ERR_EXPIRED,
                       "The provided resource version %" PRId64 " is no longer available", asked);
    return 0;
}

struct list {
    struct rest *rest;
    struct rest_filter filter;
    struct list_page page;
    struct store_object **objects; /* those to answer with: `count` of them, by filter and limit */
    size_t count;
    int64_t revision;
    const char *continue_; /* the token for the rest, or NULL */
    const char *heads[2];  /* what is left out of items; see write_heads() */
    size_t remaining;      /* how many that are; only where nothing is filtered */
};

/* A list with a selector names unreadable objects, too: one of them might be what the client wants.
 */
static bool is_wanted(const struct list *list, struct arena *scratch, struct store_object *object)
{
    struct json *json;
    if (list->filter.all)
        return rest_is_readable(list->rest, object);
    arena_reset(scratch);
    return rest_read_one(list->rest, scratch, object, &json) &&
           rest_filter_matches(&list->filter, json);
}

/* Leave what is wanted, at most as many as are, and say where the rest begins. */
static void choose(struct list *list)
{
    struct arena *scratch = arena_new();
    size_t limit = list->page.limit ? list->page.limit : SIZE_MAX, kept = 0, bytes = 0;
    size_t bytes_max = list->page.limit ? PART_BYTES : SIZE_MAX;
    for (size_t i = 0; i < list->count; i++) {
        struct store_object *object = list->objects[i];
        if (list->continue_ || !is_wanted(list, scratch, object)) {
            store_object_unref(object);
            continue;
        }
        if (kept == limit || bytes >= bytes_max) {
            list->continue_ =
                list_page_token(list->rest->arena, list->objects[kept - 1]->key, list->revision);
            list->remaining = list->filter.all ? list->count - i : 0;
            store_object_unref(object);
            continue;
        }
        list->objects[kept++] = object;
        bytes += object->size;
    }
    list->count = kept;
    arena_free(scratch);
}

static struct json *list_meta(const struct list *list)
{
    struct arena *arena = list->rest->arena;
    struct json *meta = json_object(arena);
    json_set(arena, meta, "resourceVersion", json_stringf(arena, "%" PRId64, list->revision));
    if (list->continue_)
        json_set_string(arena, meta, "continue", list->continue_);
    if (list->remaining)
        json_set_int(arena, meta, "remainingItemCount", (int64_t)list->remaining);
    return meta;
}

/* What a stored object begins with that only says what it is, in the order of whoever wrote it. */
static void write_heads(struct list *list)
{
    const struct registry_resource *resource = list->rest->route.resource;
    struct arena *arena = list->rest->arena;
    const char *version = resource->api_version, *kind = resource->id.kind;
    list->heads[0] = arena_printf(arena, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",", version, kind);
    list->heads[1] = arena_printf(arena, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", kind, version);
}

/* 0: it stands elsewhere. */
static size_t head_size(const struct list *list, const char *data)
{
    for (size_t i = 0; i < ARRAY_SIZE(list->heads); i++)
        if (str_has_prefix(data, list->heads[i]))
            return strlen(list->heads[i]);
    return 0;
}

/* Elements of a typed list do not say again what the list says; custom resources do. */
static void append_item(const struct list *list, struct arena *scratch,
                        const struct store_object *object, struct buf *body)
{
    if (list->rest->route.resource->form != SCHEMA_FORM_TYPED) {
        rest_append_stored(list->rest, scratch, object, body);
        return;
    }
    const char *data = store_object_data(object, scratch);
    size_t head = head_size(list, data);
    struct json *item;
    if (head > 0) {
        buf_append_char(body, '{');
        buf_append(body, data + head, object->size - head);
    } else if (json_parse(scratch, data, object->size, NULL, &item, NULL) == 0) {
        json_remove(item, "kind");
        json_remove(item, "apiVersion");
        json_write(item, body);
    } else {
        buf_append(body, data, object->size);
    }
}

static int write_plain(struct list *list, struct err *err)
{
    const struct registry_resource *resource = list->rest->route.resource;
    _cleanup_buf_ struct buf body;
    buf_init(&body, LIST_MAX);
    buf_printf(&body, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":", resource->list_kind,
               rest_api_version(list->rest));
    json_write(list_meta(list), &body);
    buf_append_str(&body, ",\"items\":[");
    write_heads(list);
    struct arena *scratch = arena_new();
    for (size_t i = 0; i < list->count; i++) {
        arena_reset(scratch);
        if (i > 0)
            buf_append_char(&body, ',');
        append_item(list, scratch, list->objects[i], &body);
    }
    arena_free(scratch);
    buf_append_str(&body, "]}\n");
    if (body.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "the list is larger than %d bytes: ask for parts with a limit, or for less "
                       "with a selector",
                       LIST_MAX);
    struct http_exchange *exchange = list->rest->exchange;
    http_begin(exchange, 200, "application/json", list->rest->warnings, (int64_t)body.size);
    http_write(exchange, body.data, body.size);
    http_end(exchange);
    return 0;
}

/* A Table, or metadata alone: what is written is not what is stored. */
static int write_formed(struct list *list, struct err *err)
{
    struct rest_formed formed;
    int r = rest_formed_begin(list->rest, list_meta(list), &formed, err);
    if (r < 0)
        return r;
    struct arena *scratch = arena_new();
    for (size_t i = 0; i < list->count; i++) {
        struct json *json;
        arena_reset(scratch);
        if (stored_read(scratch, list->objects[i], &json, NULL) == 0)
            rest_formed_add(&formed, json);
    }
    arena_free(scratch);
    rest_respond_json(list->rest, 200, formed.list);
    return 0;
}

/* Which part is wanted, of the list as of when. */
static int read_page(struct list *list, struct err *err)
{
    struct rest *rest = list->rest;
    const char *token = rest_query(rest, "continue");
    int r = list_page_parse(rest->arena, rest_query(rest, "limit"), token, &list->page, err);
    if (r < 0)
        return r;
    if (!list->page.revision)
        return check_version(rest, list->revision, err);
    const char *version = rest_query(rest, "resourceVersion");
    if (!str_is_empty(version) && !str_eq(version, "0"))
        return err_set(err, ERR_BAD_REQUEST,
                       "specifying resource version is not allowed when using continue");
    if (!store_remembers(engine_store(rest->engine), list->page.revision))
        return err_set(err, ERR_EXPIRED,
                       "The provided continue parameter is too old to display a consistent list "
                       "result. You can start a new list without the continue parameter.");
    list->revision = list->page.revision;
    return 0;
}

void rest_list(struct rest *rest)
{
    struct store *store = engine_store(rest->engine);
    struct list list = {.rest = rest, .revision = store_revision(store)};
    struct err err = ERR_INIT;
    if (rest_filter_of(rest, &list.filter, &err) < 0 || read_page(&list, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    list.count = store_list_after(
        store, rest_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL),
        list.page.after, &list.objects);
    choose(&list);
    bool formed = rest->table || rest->partial;
    int r = formed ? write_formed(&list, &err) : write_plain(&list, &err);
    if (r < 0)
        rest_respond_error(rest, &err);
    for (size_t i = 0; i < list.count; i++)
        store_object_unref(list.objects[i]);
    free(list.objects);
}
