/* LIST: the stored bytes joined into a list, or a Table of them, all at once or in parts. An object
 * that cannot be read is left out and named in a Warning.
 *
 * The objects are taken at once, in the state of one revision. They are looked at, and written,
 * over as many turns of the loop as that takes: a list may have ten thousand. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/list_page.h"
#include "engine/api/rest.h"
#include "engine/watch/watchers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 256 * 1024 * 1024,
    /* A client that asks for a part gets one of about so many bytes, whatever its limit: so every
     * list can be read, in parts, however large its objects are. */
    PART_BYTES = 32 * 1024 * 1024,
    /* What is done in the turn of the request: each object is looked at and written. */
    STEPS_AT_ONCE = 256,
    STEP_BYTES = 4096, /* a larger object is several steps */
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

enum stage { CHOOSING, WRITING, WRITTEN };

struct list {
    struct rest *rest;
    enum stage stage;
    size_t at;                /* the object that is looked at, or written, next */
    struct loop_task task;    /* goes on in the next turn */
    struct watcher_link link; /* so that the engine can be freed meanwhile; if is_linked */
    bool is_linked;
    struct arena *scratch;     /* of one object */
    struct buf body;           /* the answer, or … */
    struct rest_formed formed; /* … that of a Table, or of metadata alone */
    struct rest_filter filter;
    struct list_page page;
    struct store_object **objects; /* of which the first `kept` are to be answered with, */
    size_t count, kept, bytes;     /* by filter and limit; `bytes` in all */
    int64_t revision;
    const char *continue_; /* the token for the rest, or NULL */
    const char *heads[2];  /* what is left out of items; see write_heads() */
    size_t remaining;      /* how many that are; only where nothing is filtered */
};

/* A list with a selector names unreadable objects, too: one of them might be what the client wants.
 */
static bool is_wanted(const struct list *list, struct store_object *object)
{
    struct json *json;
    if (list->filter.all)
        return rest_is_readable(list->rest, object);
    arena_reset(list->scratch);
    return rest_read_one(list->rest, list->scratch, object, &json) &&
           rest_filter_matches(&list->filter, json);
}

/* Keep the next object if it is wanted and there is room for it. The first without room is where
 * the rest begins. */
static void choose_next(struct list *list)
{
    size_t position = list->at++;
    struct store_object *object = list->objects[position];
    bool is_kept = !list->continue_ && is_wanted(list, object);
    if (is_kept && list->page.limit &&
        (list->kept == list->page.limit || list->bytes >= PART_BYTES)) {
        list->continue_ =
            list_page_token(list->rest->arena, list->objects[list->kept - 1]->key, list->revision);
        list->remaining = list->filter.all ? list->count - position : 0;
        is_kept = false;
    }
    list->objects[position] = NULL;
    if (!is_kept) {
        store_object_unref(object);
        return;
    }
    list->objects[list->kept++] = object;
    list->bytes += object->size;
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
    const struct kube_kind *resource = list->rest->route.resource;
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
static void append_item(struct list *list, const struct store_object *object)
{
    struct arena *scratch = list->scratch;
    struct buf *body = &list->body;
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

static void begin_plain(struct list *list)
{
    struct buf *body = &list->body;
    buf_printf(body, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":",
               list->rest->route.resource->list_kind, rest_api_version(list->rest));
    json_write(list_meta(list), body);
    buf_append_str(body, ",\"items\":[");
    write_heads(list);
}

static int answer_plain(struct list *list, struct err *err)
{
    struct buf *body = &list->body;
    buf_append_str(body, "]}\n");
    if (body->overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "the list is larger than %d bytes: ask for parts with a limit, or for less "
                       "with a selector",
                       LIST_MAX);
    struct http_exchange *exchange = list->rest->exchange;
    http_begin(exchange, 200, "application/json", list->rest->warnings, (int64_t)body->size);
    http_write(exchange, body->data, body->size);
    http_end(exchange);
    return 0;
}

/* A Table, or metadata alone: what is written is not what is stored. */
static bool is_formed(const struct list *list)
{
    return list->rest->table || list->rest->partial;
}

/* Count what the answer takes: twice as much as the objects, because the connection copies it, or
 * what a Table has grown to. */
static int reserve(const struct list *list, struct err *err)
{
    struct rest *rest = list->rest;
    return rest_reserve(rest, is_formed(list) ? arena_used(rest->arena) : 2 * list->bytes, err);
}

static int begin_writing(struct list *list, struct err *err)
{
    list->stage = WRITING;
    list->at = 0;
    int r = reserve(list, err);
    if (r < 0)
        return r;
    if (is_formed(list))
        return rest_formed_begin(list->rest, list_meta(list), &list->formed, err);
    begin_plain(list);
    return 0;
}

static void write_next(struct list *list)
{
    struct store_object *object = list->objects[list->at];
    struct json *json;
    arena_reset(list->scratch);
    if (!is_formed(list)) {
        if (list->at > 0)
            buf_append_char(&list->body, ',');
        append_item(list, object);
    } else if (stored_read(list->scratch, object, &json, NULL) == 0) {
        rest_formed_add(&list->formed, json);
    }
    list->at++;
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

/* ---- Over the turns -------------------------------------------------------------------------- */

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        store_object_unref(list->objects[i]);
    free(list->objects);
    arena_free(list->scratch);
    buf_release(&list->body);
    free(list);
}

static void answer(struct list *list, struct err *err)
{
    if (list->is_linked)
        watcher_link_remove(&list->link);
    if (!err->code && is_formed(list))
        rest_respond_json(list->rest, 200, list->formed.list);
    else if (err->code || answer_plain(list, err) < 0)
        rest_respond_error(list->rest, err);
    list_free(list);
}

/* One object; returns how many steps that were. */
static size_t take_step(struct list *list, struct err *err)
{
    size_t size =
        list->at < list->count && list->objects[list->at] ? list->objects[list->at]->size : 0;
    if (list->stage == CHOOSING && list->at < list->count)
        choose_next(list);
    else if (list->stage == CHOOSING)
        (void)begin_writing(list, err);
    else if (list->at < list->kept)
        write_next(list);
    else
        list->stage = WRITTEN;
    return 1 + size / STEP_BYTES;
}

/* The engine goes, or the kind does. */
static void abandon(struct watcher_link *link)
{
    struct list *list = CONTAINER_OF(link, struct list, link);
    struct err err;
    watcher_link_remove(link);
    loop_defer_cancel(engine_loop(list->rest->engine), &list->task);
    err_set(&err, ERR_UNAVAILABLE, "what is listed is being removed: try again");
    engine_respond_error(list->rest->exchange, &err);
    list_free(list);
}

static void put_off(struct list *list)
{
    struct rest *rest = list->rest;
    if (!list->is_linked)
        watcher_link_add(engine_watchers(rest->engine), &list->link, rest->route.resource->storage,
                         abandon);
    list->is_linked = true;
    loop_defer(engine_loop(rest->engine), &list->task);
}

/* As far as the turn goes; the first one by steps, since it may have begun long ago. */
static void go_on(struct list *list, size_t steps_max)
{
    struct loop *loop = engine_loop(list->rest->engine);
    struct err err = ERR_INIT;
    size_t steps = 0;
    while (list->stage != WRITTEN && !err.code &&
           (steps_max ? steps < steps_max : !loop_should_yield(loop)))
        steps += take_step(list, &err);
    if (list->stage == WRITING && !err.code)
        (void)reserve(list, &err);
    if (list->stage == WRITTEN || err.code)
        answer(list, &err);
    else
        put_off(list);
}

static void on_task(struct loop_task *task)
{
    go_on(CONTAINER_OF(task, struct list, task), 0);
}

void rest_list(struct rest *rest)
{
    struct store *store = engine_store(rest->engine);
    struct list *list = mem_zalloc(sizeof(*list));
    struct err err = ERR_INIT;
    list->rest = rest;
    list->revision = store_revision(store);
    list->task.callback = on_task;
    buf_init(&list->body, LIST_MAX);
    if (rest_filter_of(rest, &list->filter, &err) < 0 || read_page(list, &err) < 0) {
        answer(list, &err);
        return;
    }
    list->scratch = arena_new();
    list->count = store_list_after(
        store, registry_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL),
        list->page.after, &list->objects);
    go_on(list, STEPS_AT_ONCE);
}
