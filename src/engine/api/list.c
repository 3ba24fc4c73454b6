/* Handles LIST: joins the stored bytes into a list, or makes a Table, in one response or in pages.
 * The list leaves out an object that cannot be read, and a Warning header names it. The handler
 * takes the references to all objects at once, so the list shows the state of one revision. It
 * filters and writes the objects over several turns of the loop, because a list may have ten
 * thousand objects. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/list_page.h"
#include "engine/api/open_calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 256 * 1024 * 1024, /* bytes of a response with whole objects */
    /* If the client sets a limit, a page ends after about this many bytes, even if the limit allows
     * more objects. So a client can read every list in pages, even if its objects are large. */
    PART_BYTES = 32 * 1024 * 1024,
    /* The most steps in the turn in which the request arrives. Filtering an object is one step, and
     * writing it is another. */
    STEPS_AT_ONCE = 256,
    STEP_BYTES = 4096, /* an object counts as one more step per this many bytes */
};

/* Checks the resourceVersion of the request. The store has only the newest state, so
 * resourceVersionMatch=Exact works only for the newest revision, `current`. */
static int check_version(struct api_call *call, int64_t current, struct err *err)
{
    int64_t requested;
    int result = api_check_version(call, &requested, err);
    if (result < 0)
        return result;
    if (requested != current && !str_is_empty(api_query(call, "resourceVersion")) &&
        str_eq(api_query(call, "resourceVersionMatch"), "Exact"))
        return err_set(err, ERR_EXPIRED,
                       "The provided resource version %" PRId64 " is no longer available",
                       requested);
    return 0;
}

enum stage {
    CHOOSING, /* list.c selects the objects of the page */
    WRITING,  /* list.c adds these objects to the response */
    WRITTEN,  /* the response is complete */
};

/* A list request in progress. */
struct list {
    struct api_call *call;
    enum stage stage;
    size_t at;             /* the position in `objects` of the next object to filter or write */
    struct loop_task task; /* continues in the next turn of the loop */
    struct open_call link; /* reports that the engine is freed or the kind is removed */
    bool is_linked;        /* `link` is in the engine's list */
    struct arena *scratch; /* reset before each object */
    struct buf body;       /* the response, unless `formed` is the response */
    struct api_formed_list formed; /* the response, if is_formed() */
    struct api_filter filter;
    struct list_page page;         /* the requested page */
    struct store_object **objects; /* references; those of left out objects are NULL */
    size_t count;                  /* the length of `objects` */
    size_t kept;                   /* the first `kept` objects are on the page */
    size_t bytes;                  /* the total size of these objects */
    int64_t revision;              /* the resourceVersion of the list */
    const char *continue_;         /* the token of the next page; NULL: this is the last page */
    const char *heads[2];          /* see set_object_heads() */
    size_t remaining;              /* the number of objects after this page; 0 with a filter */
};

/* Returns whether the object can be read and matches the selectors. Warns about each unreadable
 * object, even if the list has a selector, because the selector might match the object. */
static bool is_wanted(const struct list *list, struct store_object *object)
{
    struct json *json;
    if (list->filter.all)
        return api_is_readable(list->call, object);
    arena_reset(list->scratch);
    return api_read_stored(list->call, list->scratch, object, &json) &&
           api_filter_matches(&list->filter, json);
}

/* Keeps the next object if it matches the filter and the page is not full. The next page begins
 * with the first matching object that is not kept. */
static void choose_next(struct list *list)
{
    size_t position = list->at++;
    struct store_object *object = list->objects[position];
    bool is_kept = !list->continue_ && is_wanted(list, object);
    if (is_kept && list->page.limit &&
        (list->kept == list->page.limit || list->bytes >= PART_BYTES)) {
        list->continue_ =
            list_page_token(list->call->arena, list->objects[list->kept - 1]->key, list->revision);
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
    struct arena *arena = list->call->arena;
    struct json *meta = json_object(arena);
    json_set(arena, meta, "resourceVersion", json_stringf(arena, "%" PRId64, list->revision));
    if (list->continue_)
        json_set_string(arena, meta, "continue", list->continue_);
    if (list->remaining)
        json_set_int(arena, meta, "remainingItemCount", (int64_t)list->remaining);
    return meta;
}

/* Sets list->heads to the two possible beginnings of a stored object: kind and apiVersion, in
 * either order. The items of a typed list are written without this beginning. */
static void set_object_heads(struct list *list)
{
    const struct kube_kind *resource = list->call->route.resource;
    struct arena *arena = list->call->arena;
    const char *version = resource->api_version, *kind = resource->id.kind;
    list->heads[0] = arena_printf(arena, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",", version, kind);
    list->heads[1] = arena_printf(arena, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", kind, version);
}

/* Returns the size of the object's beginning that is one of list->heads, or 0 if it is none of
 * them. */
static size_t head_size(const struct list *list, const char *data)
{
    for (size_t i = 0; i < ARRAY_SIZE(list->heads); i++)
        if (str_has_prefix(data, list->heads[i]))
            return strlen(list->heads[i]);
    return 0;
}

/* Appends an object to the response: without kind and apiVersion in a typed list, with both in a
 * list of custom resources. */
static void append_item(struct list *list, const struct store_object *object)
{
    struct arena *scratch = list->scratch;
    struct buf *body = &list->body;
    if (list->call->route.resource->form != SCHEMA_FORM_TYPED) {
        api_append_stored(list->call, scratch, object, body);
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

/* Writes the beginning of a list of whole objects. */
static void begin_plain(struct list *list)
{
    struct buf *body = &list->body;
    buf_printf(body, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":",
               list->call->route.resource->list_kind, api_call_version(list->call));
    json_write(list_meta(list), body);
    buf_append_str(body, ",\"items\":[");
    set_object_heads(list);
}

/* Responds with a list of whole objects. */
static int answer_plain(struct list *list, struct err *err)
{
    struct buf *body = &list->body;
    buf_append_str(body, "]}\n");
    if (body->overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "the list is larger than %d bytes: request it in parts with a limit, or "
                       "fewer objects with a selector",
                       LIST_MAX);
    struct http_exchange *exchange = list->call->exchange;
    http_begin(exchange, 200, "application/json", list->call->warnings, (int64_t)body->size);
    http_write(exchange, body->data, body->size);
    http_end(exchange);
    return 0;
}

/* Returns whether the response is a Table or has only metadata. */
static bool is_formed(const struct list *list)
{
    return list->call->table || list->call->partial;
}

/* Reserves memory for the response: for a Table or metadata, the present size of the request's
 * arena; for whole objects, twice their size, because the connection copies the response. */
static int list_reserve(const struct list *list, struct err *err)
{
    struct api_call *call = list->call;
    return api_reserve(call, is_formed(list) ? arena_used(call->arena) : 2 * list->bytes, err);
}

static int begin_writing(struct list *list, struct err *err)
{
    list->stage = WRITING;
    list->at = 0;
    int result = list_reserve(list, err);
    if (result < 0)
        return result;
    if (is_formed(list))
        return api_formed_list_begin(list->call, list_meta(list), &list->formed, err);
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
        api_formed_list_add(&list->formed, json);
    }
    list->at++;
}

/* Reads the requested page and its revision from the query. */
static int read_page(struct list *list, struct err *err)
{
    struct api_call *call = list->call;
    const char *token = api_query(call, "continue");
    int result = list_page_parse(call->arena, api_query(call, "limit"), token, &list->page, err);
    if (result < 0)
        return result;
    if (!list->page.revision)
        return check_version(call, list->revision, err);
    const char *version = api_query(call, "resourceVersion");
    if (!str_is_empty(version) && !str_eq(version, "0"))
        return err_set(err, ERR_BAD_REQUEST,
                       "specifying resource version is not allowed when using continue");
    if (!store_remembers(engine_store(call->engine), list->page.revision))
        return err_set(err, ERR_EXPIRED,
                       "The provided continue parameter is too old to display a consistent list "
                       "result. You can start a new list without the continue parameter.");
    list->revision = list->page.revision;
    return 0;
}

/* ---- Over several turns of the loop ---------------------------------------------------------- */

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        store_object_unref(list->objects[i]);
    free(list->objects);
    arena_free(list->scratch);
    buf_release(&list->body);
    free(list);
}

/* Responds with the list, or with the error if `err` has one. Frees the list. */
static void list_respond(struct list *list, struct err *err)
{
    if (list->is_linked)
        open_call_remove(&list->link);
    if (!err->code && is_formed(list))
        api_respond_json(list->call, 200, list->formed.list);
    else if (err->code || answer_plain(list, err) < 0)
        api_respond_error(list->call, err);
    list_free(list);
}

/* Filters or writes one object, or begins the next stage. Returns the number of steps that this
 * counts as. */
static size_t list_take_step(struct list *list, struct err *err)
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

/* Called when the engine is freed or the kind is removed. */
static void on_list_abandoned(struct open_call *link)
{
    struct list *list = CONTAINER_OF(link, struct list, link);
    struct err err;
    open_call_remove(link);
    loop_defer_cancel(engine_loop(list->call->engine), &list->task);
    err_set(&err, ERR_UNAVAILABLE,
            "the server is shutting down, or the kind is being removed: try again");
    engine_respond_error(list->call->exchange, &err);
    list_free(list);
}

static void list_defer(struct list *list)
{
    struct api_call *call = list->call;
    if (!list->is_linked)
        open_call_add(engine_open_calls(call->engine), &list->link, call->route.resource->storage,
                      on_list_abandoned);
    list->is_linked = true;
    loop_defer(engine_loop(call->engine), &list->task);
}

/* Continues until the list is complete or the turn of the loop should end, and then responds or
 * defers the rest. In the turn in which the request arrives, the limit is `steps_max` steps,
 * because the turn may have begun long before the request. In later turns `steps_max` is 0, and the
 * limit is the time of the turn. */
static void list_continue(struct list *list, size_t steps_max)
{
    struct loop *loop = engine_loop(list->call->engine);
    struct err err = ERR_INIT;
    size_t steps = 0;
    while (list->stage != WRITTEN && !err.code &&
           (steps_max ? steps < steps_max : !loop_should_yield(loop)))
        steps += list_take_step(list, &err);
    if (list->stage == WRITING && !err.code)
        (void)list_reserve(list, &err);
    if (list->stage == WRITTEN || err.code)
        list_respond(list, &err);
    else
        list_defer(list);
}

static void on_list_task(struct loop_task *task)
{
    list_continue(CONTAINER_OF(task, struct list, task), 0);
}

void api_handle_list(struct api_call *call)
{
    struct store *store = engine_store(call->engine);
    struct list *list = mem_zalloc(sizeof(*list));
    struct err err = ERR_INIT;
    list->call = call;
    list->revision = store_revision(store);
    list->task.callback = on_list_task;
    buf_init(&list->body, LIST_MAX);
    if (api_filter_of(call, &list->filter, &err) < 0 || read_page(list, &err) < 0) {
        list_respond(list, &err);
        return;
    }
    list->scratch = arena_new();
    list->count = store_list_after(
        store, stored_key(call->arena, call->route.resource, call->route.namespace_, NULL),
        list->page.after, &list->objects);
    list_continue(list, STEPS_AT_ONCE);
}
