/* WATCH: the changes of a resource as a stream of JSON lines, which rest_watch_event.c makes.
 *
 * What a client has not read waits as shared events (watch_events.h), and the present state that a
 * watch begins with as references to stored objects; a connection itself holds little. A watcher
 * that falls too far behind is ended with 410 Gone, and lists again. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/watch/internal.h"
#include "kube/status.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    /* What a connection holds unread: one record of TLS waits, the next is being sent. A buffer of
     * that size takes 32 KiB. */
    STREAM_HIGH = 24 * 1024,
    /* The same of a watch of this process, where an event is larger than that: smaller ones are
     * taken whole in the next turn. */
    LOCAL_HIGH = 256 * 1024,
    BOOKMARK_MS = 60 * 1000,
    TIMEOUT_DEFAULT_S = 3600,
    TIMEOUT_MAX_S = 24 * 3600,
    NOBODYS_REVISION = 1, /* written before the server listened: no list was ever of it */
};

/* ---- Life ------------------------------------------------------------------------------------ */

/* No further event is put into the backlog. */
static void stop(struct rest_watcher *watcher)
{
    if (watcher->watch)
        store_watch_stop(TAKE(watcher->watch));
    loop_timer_stop(&watcher->timeout);
    loop_timer_stop(&watcher->bookmark);
    while (watcher->initial_at < watcher->initial_count)
        store_object_unref(watcher->initial[watcher->initial_at++]);
    free(TAKE(watcher->initial));
    watcher->initial_end = false;
}

static void release(struct rest_watcher *watcher)
{
    stop(watcher);
    watcher_link_remove(&watcher->link);
    watch_backlog_release(&watcher->backlog);
    watcher->scratch = arena_free(watcher->scratch);
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
    exchange->on_drain = NULL;
    http_end(exchange); /* the watcher's memory goes with it */
}

static void end_link(struct watcher_link *link)
{
    finish(CONTAINER_OF(link, struct rest_watcher, link));
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* The next object of the present state, or the mark of its end, becomes the current event. */
static void begin_initial(struct rest_watcher *watcher)
{
    struct watch_event *event = NULL;
    while (!event && watcher->initial_at < watcher->initial_count) {
        struct store_object *stored = watcher->initial[watcher->initial_at++];
        if (rest_watch_matches(watcher, stored))
            event = rest_watch_event_of(watcher, "ADDED", stored, stored->revision);
        store_object_unref(stored);
    }
    if (!event && watcher->initial_end) {
        watcher->initial_end = false;
        event = rest_watch_make_bookmark(watcher, watcher->initial_revision, true);
    }
    if (event && watcher->ending)
        watch_event_unref(event);
    else if (event)
        watch_backlog_begin(&watcher->backlog, event);
}

/* Give the connection what it takes. The watcher may be gone afterwards. */
static void pump(struct rest_watcher *watcher)
{
    struct http_exchange *exchange = watcher->rest->exchange;
    struct watch_backlog *backlog = &watcher->backlog;
    const char *data;
    for (;;) {
        size_t pending = http_pending(exchange);
        if (pending >= STREAM_HIGH && !exchange->in_process)
            return;
        if (!backlog->current)
            begin_initial(watcher);
        size_t size = watch_backlog_peek(backlog, &data);
        if (size == 0)
            break;
        if (!exchange->in_process || backlog->current->size > LOCAL_HIGH) {
            size_t high = exchange->in_process ? LOCAL_HIGH : STREAM_HIGH;
            if (pending >= high)
                return;
            size = size < high - pending ? size : high - pending;
        }
        http_write(exchange, data, size);
        watch_backlog_take(backlog, size);
    }
    if (watcher->ending)
        finish(watcher);
}

static void on_drain(struct http_exchange *exchange)
{
    pump(exchange->context);
}

/* The client is too far behind. What it has begun to read it may read to its end. */
static void expire(struct rest_watcher *watcher)
{
    struct err err = ERR_INIT;
    stop(watcher);
    watcher->ending = true;
    watch_backlog_drop(&watcher->backlog);
    err_set(&err, ERR_EXPIRED,
            "too old resource version: %" PRId64 " (this watch left too many changes unread: list "
            "again)",
            watcher->seen);
    arena_reset(watcher->scratch);
    struct watch_event *event = rest_watch_event_of_json(
        watcher, "ERROR", kube_status_from_err(watcher->scratch, &err, NULL));
    if (!watch_backlog_push(&watcher->backlog, event))
        watch_event_unref(event);
}

/* The server needs the memory: called when any watcher adds an event. */
static void end_backlog(struct watch_backlog *backlog)
{
    struct rest_watcher *watcher = CONTAINER_OF(backlog, struct rest_watcher, backlog);
    if (!watcher->ending)
        expire(watcher);
    else if (watcher->encoding)
        watch_backlog_clear(backlog);
    else
        finish(watcher);
}

/* Put the event behind all others, unless the watch has ended meanwhile. The watcher may be gone
 * afterwards. */
static void send_event(struct rest_watcher *watcher, struct watch_event *event)
{
    if (event && watcher->ending) {
        watch_event_unref(event);
    } else if (event && !watch_backlog_push(&watcher->backlog, event)) {
        watch_event_unref(event);
        expire(watcher);
    }
    pump(watcher);
}

static void on_timeout(struct loop_timer *timer)
{
    struct rest_watcher *watcher = CONTAINER_OF(timer, struct rest_watcher, timeout);
    stop(watcher);
    watcher->ending = true;
    watch_backlog_drop(&watcher->backlog); /* the client goes on behind what it has read */
    pump(watcher);
}

static void on_event(void *context, const struct store_event *event)
{
    static const char *const types[] = {
        [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};
    struct rest_watcher *watcher = context;
    int64_t revision = event->object->revision;
    struct watch_event *encoded = NULL;
    if (!watcher->filter.all)
        encoded = rest_watch_filtered_event(watcher, event);
    else if (stored_is_readable(event->object))
        encoded = rest_watch_event_of(watcher, types[event->type], event->object, revision);
    watcher->seen = revision;
    send_event(watcher, encoded);
}

static void on_bookmark(struct loop_timer *timer)
{
    struct rest_watcher *watcher = CONTAINER_OF(timer, struct rest_watcher, bookmark);
    /* A change is delivered in the turn in which it is committed, so all of them have been. */
    watcher->seen = store_revision(engine_store(watcher->rest->engine));
    loop_timer_start(timer, BOOKMARK_MS);
    send_event(watcher, rest_watch_make_bookmark(watcher, watcher->seen, false));
}

/* ---- Start ----------------------------------------------------------------------------------- */

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
    struct json *status = err->code == ERR_TIMEOUT
                              ? rest_too_new_status(watcher->scratch, err)
                              : kube_status_from_err(watcher->scratch, err, NULL);
    watch_backlog_begin(&watcher->backlog, rest_watch_event_of_json(watcher, "ERROR", status));
    watcher->ending = true;
    pump(watcher);
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
    const char *prefix =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL);
    http_begin(rest->exchange, 200, "application/json", NULL, -1);
    if ((options->initial_end && rest_check_version(rest, &(int64_t){0}, &err) < 0) ||
        open_watch(watcher, prefix, options->since, &err) < 0) {
        answer_refused(watcher, &err);
        return;
    }
    if (options->since < 0) /* everything there is, as if it had just been made */
        watcher->initial_count = store_list(engine_store(rest->engine), prefix, &watcher->initial);
    watcher->initial_end = options->initial_end;
    watcher->initial_revision = watcher->seen;
    loop_timer_start(&watcher->timeout, options->timeout_s * 1000);
    if (watcher->bookmarks)
        loop_timer_start(&watcher->bookmark, BOOKMARK_MS);
    pump(watcher);
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
    watcher->look = arena_printf(rest->arena, "%s %s %d %d %p", rest_api_version(rest),
                                 rest->partial ? rest->partial : "", watcher->table,
                                 (int)watcher->include, (const void *)rest->route.resource);
    const char *payer = rest->exchange->user ? rest->exchange->user : rest->exchange->request->peer;
    watch_backlog_init(&watcher->backlog, engine_watch_events(rest->engine),
                       rest->exchange->in_process ? NULL : payer, end_backlog);
    loop_timer_init(loop, &watcher->timeout, on_timeout);
    loop_timer_init(loop, &watcher->bookmark, on_bookmark);
    watcher_link_add(engine_watchers(rest->engine), &watcher->link, rest->route.resource->storage,
                     end_link);
    rest->exchange->context = watcher;
    rest->exchange->on_cancel = canceled;
    rest->exchange->on_drain = on_drain;
    start(watcher, &options);
}
