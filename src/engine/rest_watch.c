/* WATCH: the changes of a resource as a stream of JSON lines. A plain watcher gets the stored bytes
 * as they are; one with a selector gets what enters and leaves its set as ADDED and DELETED; one
 * that wants Tables gets one row an event. A watcher that does not read is ended: it will list
 * again. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/rest.h"
#include "engine/version_trees.h"
#include "engine/watchers.h"
#include "kube/object.h"
#include "kube/status.h"
#include "kube/table.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BACKLOG_MAX = 8 * 1024 * 1024, /* bytes a watcher may leave unread, beyond the initial state */
    FLUSH_SIZE = 64 * 1024,
    EVENT_MAX = 64 * 1024 * 1024,
    BOOKMARK_MS = 60 * 1000,
    TIMEOUT_DEFAULT_S = 3600,
    TIMEOUT_MAX_S = 24 * 3600,
    NOBODYS_REVISION = 1, /* written before the server listened: no list was ever of it */
};

struct rest_watcher {
    struct rest *rest;
    struct rest_filter filter;
    struct store_watch *watch;
    struct loop_timer timeout, bookmark;
    struct watcher_link link;
    struct arena *scratch; /* of one event */
    struct buf out;
    size_t backlog_max;
    int64_t seen; /* the revision up to which everything was sent */
    bool table, columns_sent, bookmarks;
    enum kube_include include;
};

/* ---- Life ------------------------------------------------------------------------------------ */

static void release(struct rest_watcher *watcher)
{
    if (watcher->watch)
        store_watch_stop(TAKE(watcher->watch));
    loop_timer_stop(&watcher->timeout);
    loop_timer_stop(&watcher->bookmark);
    watcher_link_remove(&watcher->link);
    watcher->scratch = arena_free(watcher->scratch);
    buf_release(&watcher->out);
}

static void canceled(struct http_exchange *exchange)
{
    release(exchange->context);
}

static void finish(struct rest_watcher *watcher)
{
    struct http_exchange *exchange = watcher->rest->exchange;
    release(watcher);
    exchange->on_cancel = NULL;
    http_end(exchange); /* the watcher's memory goes with it */
}

static void on_timeout(struct loop_timer *timer)
{
    finish(CONTAINER_OF(timer, struct rest_watcher, timeout));
}

static void end_link(struct watcher_link *link)
{
    finish(CONTAINER_OF(link, struct rest_watcher, link));
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void flush(struct rest_watcher *watcher)
{
    if (watcher->out.size > 0)
        http_write(watcher->rest->exchange, watcher->out.data, watcher->out.size);
    buf_clear(&watcher->out);
}

static void add_event(struct rest_watcher *watcher, const char *type,
                      const struct store_object *stored)
{
    buf_printf(&watcher->out, "{\"type\":\"%s\",\"object\":", type);
    rest_append_stored(watcher->rest, watcher->scratch, stored, &watcher->out);
    buf_append_str(&watcher->out, "}\n");
}

static void add_json(struct rest_watcher *watcher, const char *type, struct json *object)
{
    rest_convert_out(watcher->rest, watcher->scratch, object);
    buf_printf(&watcher->out, "{\"type\":\"%s\",\"object\":", type);
    json_write(object, &watcher->out);
    buf_append_str(&watcher->out, "}\n");
}

static struct json *as_table(struct rest_watcher *watcher, const struct json *object)
{
    struct arena *arena = watcher->scratch;
    const struct kube_columns *columns = rest_columns(watcher->rest);
    struct json *meta = json_object(arena);
    json_set_string(arena, meta, "resourceVersion", kube_meta_resource_version(object));
    struct json *table = kube_table_new(arena, columns, meta, !watcher->columns_sent);
    kube_table_add(arena, table, columns, object, watcher->include,
                   loop_wall_ms(engine_loop(watcher->rest->engine)));
    watcher->columns_sent = true;
    return table;
}

static const struct json *tree_of(struct rest_watcher *watcher, const struct store_object *stored)
{
    return version_trees_get(engine_version_trees(watcher->rest->engine), stored);
}

/* An object in the form of a watcher that does not want it whole. */
static struct json *as_formed(struct rest_watcher *watcher, const struct json *object)
{
    return watcher->table ? as_table(watcher, object)
                          : rest_as_partial(watcher->rest, watcher->scratch, object);
}

static bool wants_whole(const struct rest_watcher *watcher)
{
    return !watcher->table && !watcher->rest->partial;
}

/* One object of the store in the watcher's form. */
static void add_stored(struct rest_watcher *watcher, const char *type,
                       const struct store_object *stored)
{
    const struct json *json;
    if (wants_whole(watcher))
        add_event(watcher, type, stored);
    else if ((json = tree_of(watcher, stored)))
        add_json(watcher, type, as_formed(watcher, json));
}

/* What left the set is shown as it was when it was in it, with the version that took it out. */
static void add_leaver(struct rest_watcher *watcher, const struct store_object *previous,
                       int64_t revision)
{
    struct arena *arena = watcher->scratch;
    struct json *left = json_clone(arena, tree_of(watcher, previous));
    json_set(arena, json_ensure_object(arena, left, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRId64, revision));
    add_json(watcher, "DELETED", wants_whole(watcher) ? left : as_formed(watcher, left));
}

static bool matches(struct rest_watcher *watcher, const struct store_object *stored)
{
    if (!stored || watcher->filter.all)
        return stored != NULL;
    const struct json *json = tree_of(watcher, stored);
    return json && rest_filter_matches(&watcher->filter, json);
}

static void add_filtered(struct rest_watcher *watcher, const struct store_event *event)
{
    bool was = matches(watcher, event->previous);
    if (event->type == STORE_DELETED) {
        if (was)
            add_stored(watcher, "DELETED", event->object);
        return;
    }
    bool is = matches(watcher, event->object);
    if (is)
        add_stored(watcher, was ? "MODIFIED" : "ADDED", event->object);
    else if (was)
        add_leaver(watcher, event->previous, event->object->revision);
}

static void on_event(void *context, const struct store_event *event)
{
    static const char *const types[] = {
        [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};
    struct rest_watcher *watcher = context;
    arena_reset(watcher->scratch);
    if (watcher->filter.all)
        add_stored(watcher, types[event->type], event->object);
    else
        add_filtered(watcher, event);
    watcher->seen = event->object->revision;
    flush(watcher);
    if (http_pending(watcher->rest->exchange) > watcher->backlog_max)
        finish(watcher);
}

static void add_bookmark(struct rest_watcher *watcher, bool initial_end)
{
    struct arena *arena = watcher->scratch;
    arena_reset(arena);
    struct json *object = json_object(arena);
    kube_object_set_kind(arena, object, &watcher->rest->route.resource->id);
    struct json *meta = json_ensure_object(arena, object, "metadata");
    json_set(arena, meta, "resourceVersion", json_stringf(arena, "%" PRId64, watcher->seen));
    json_set(arena, meta, "creationTimestamp", json_null(arena));
    if (initial_end)
        kube_meta_set_annotation(arena, object, "k8s.io/initial-events-end", "true");
    if (watcher->table) {
        const struct kube_columns *columns = rest_columns(watcher->rest);
        object = kube_table_new(arena, columns, meta, false);
    } else if (watcher->rest->partial) {
        object = as_formed(watcher, object);
    }
    add_json(watcher, "BOOKMARK", object);
}

static void on_bookmark(struct loop_timer *timer)
{
    struct rest_watcher *watcher = CONTAINER_OF(timer, struct rest_watcher, bookmark);
    /* A change is delivered in the turn in which it is committed, so all of them have been. */
    watcher->seen = store_revision(engine_store(watcher->rest->engine));
    add_bookmark(watcher, false);
    flush(watcher);
    loop_timer_start(timer, BOOKMARK_MS);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Everything there is, as if it had just been made. */
static void add_initial(struct rest_watcher *watcher, const char *prefix)
{
    struct store *store = engine_store(watcher->rest->engine);
    struct store_object **objects;
    size_t count = store_list(store, prefix, &objects);
    for (size_t i = 0; i < count; i++) {
        arena_reset(watcher->scratch);
        if (matches(watcher, objects[i]))
            add_stored(watcher, "ADDED", objects[i]);
        if (watcher->out.size >= FLUSH_SIZE)
            flush(watcher);
        store_object_unref(objects[i]);
    }
    free(objects);
}

struct watch_options {
    int64_t since; /* -1: from the present state, which is sent first */
    int64_t timeout_s;
    bool initial_end; /* mark the end of the initial state */
};

static int read_options(struct rest *rest, struct watch_options *ret, struct err *err)
{
    const char *query = rest->exchange->request->query;
    const char *version = rest_query(rest, "resourceVersion");
    const char *timeout = rest_query(rest, "timeoutSeconds");
    struct watch_options options = {.since = -1, .timeout_s = TIMEOUT_DEFAULT_S};
    options.initial_end = http_query_flag(query, "sendInitialEvents");
    int64_t asked = 0;
    int r = str_is_empty(version) ? 0 : rest_read_version(version, &asked, err);
    if (r < 0)
        return r;
    if (asked > 0 && !options.initial_end)
        options.since = asked;
    if (!str_is_empty(timeout) &&
        str_to_int64(timeout, INT64_MIN, INT64_MAX, &options.timeout_s, NULL) < 0)
        return err_set(err, ERR_BAD_REQUEST, "strconv.ParseInt: parsing \"%.100s\": invalid syntax",
                       timeout);
    if (options.timeout_s <= 0)
        options.timeout_s = TIMEOUT_DEFAULT_S;
    if (options.timeout_s > TIMEOUT_MAX_S)
        options.timeout_s = TIMEOUT_MAX_S;
    *ret = options;
    return 0;
}

/* History that is gone or yet to come is told inside the stream, where every client looks for it.
 */
static void answer_refused(struct rest_watcher *watcher, const struct err *err)
{
    add_json(watcher, "ERROR",
             err->code == ERR_TIMEOUT ? rest_too_new_status(watcher->scratch, err)
                                      : kube_status_from_err(watcher->scratch, err, NULL));
    flush(watcher);
    finish(watcher);
}

static int open_watch(struct rest_watcher *watcher, const char *prefix, int64_t since,
                      struct err *err)
{
    struct store *store = engine_store(watcher->rest->engine);
    int64_t current = store_revision(store);
    if (since >= 0 && since <= NOBODYS_REVISION)
        return err_set(err, ERR_EXPIRED, "too old resource version: %" PRId64 " (%" PRId64 ")",
                       since, current);
    /* Upstream such a watch waits for the version in silence. Here revisions never repeat, so who
     * knows a later one knew another store, and is sent to look what there is in this one. */
    if (since > current)
        return err_set(err, ERR_EXPIRED,
                       "resource version %" PRId64 " is newer than this server's %" PRId64
                       ": list again",
                       since, current);
    watcher->seen = since >= 0 ? since : current;
    return store_watch(store, prefix, watcher->seen, on_event, watcher, &watcher->watch, err);
}

static void start(struct rest_watcher *watcher, const struct watch_options *options)
{
    struct rest *rest = watcher->rest;
    struct err err = ERR_INIT;
    const char *prefix = rest_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL);
    http_begin(rest->exchange, 200, "application/json", NULL, -1);
    if ((options->initial_end && rest_check_version(rest, &(int64_t){0}, &err) < 0) ||
        open_watch(watcher, prefix, options->since, &err) < 0) {
        answer_refused(watcher, &err);
        return;
    }
    if (options->since < 0)
        add_initial(watcher, prefix);
    if (options->initial_end)
        add_bookmark(watcher, true);
    flush(watcher);
    watcher->backlog_max = BACKLOG_MAX + http_pending(rest->exchange);
    loop_timer_start(&watcher->timeout, options->timeout_s * 1000);
    if (watcher->bookmarks)
        loop_timer_start(&watcher->bookmark, BOOKMARK_MS);
}

void rest_watch(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct watch_options options = {0};
    struct rest_watcher *watcher = ARENA_NEW(rest->arena, struct rest_watcher);
    watcher->rest = rest;
    if (read_options(rest, &options, &err) < 0 ||
        rest_filter_of(rest, &watcher->filter, &err) < 0 ||
        kube_include_parse(rest_query(rest, "includeObject"), &watcher->include, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    struct loop *loop = engine_loop(rest->engine);
    watcher->table = rest->table;
    watcher->bookmarks = http_query_flag(rest->exchange->request->query, "allowWatchBookmarks");
    watcher->scratch = arena_new();
    buf_init(&watcher->out, EVENT_MAX);
    loop_timer_init(loop, &watcher->timeout, on_timeout);
    loop_timer_init(loop, &watcher->bookmark, on_bookmark);
    watcher_link_add(engine_watchers(rest->engine), &watcher->link, rest->route.resource->storage,
                     end_link);
    rest->exchange->context = watcher;
    rest->exchange->on_cancel = canceled;
    start(watcher, &options);
}
