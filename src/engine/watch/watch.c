/* Handles WATCH requests: streams the changes of a resource as JSON lines, which event.c makes.
 * Unsent changes are kept as shared events (events.h), and the unsent part of the initial state as
 * references to stored objects, so a connection buffers little. If a client reads too slowly, its
 * watch is ended with 410 Gone, and the client lists again. */
#include "engine/watch/watch.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/api/open_calls.h"
#include "engine/watch/internal.h"
#include "kube/status.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    /* The most unread bytes in the buffer of a connection: one TLS record is being sent while the
     * next waits. A buffer for this many bytes takes 32 KiB. */
    STREAM_HIGH = 24 * 1024,
    /* The most unread bytes of a large event in a watch of this process. Smaller events are written
     * at once, because they are read in the next turn of the loop. */
    LOCAL_HIGH = 256 * 1024,
    BOOKMARK_MS = 60 * 1000,
    TIMEOUT_DEFAULT_S = 3600,
    TIMEOUT_MAX_S = 24 * 3600,
    /* The revision of the first object that the server writes when it starts with an empty store. A
     * watch after this or an earlier revision is refused. The server writes more objects at its
     * start, so a client that lists afterwards never gets this revision. */
    FIRST_REVISION = 1,
};

/* ---- Lifetime -------------------------------------------------------------------------------- */

/* Stops the timers and the delivery of changes, and drops the unsent part of the initial state. The
 * backlog stays. */
static void watcher_stop(struct watcher *watcher)
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

static void watcher_release(struct watcher *watcher)
{
    watcher_stop(watcher);
    open_call_remove(&watcher->link);
    watch_backlog_release(&watcher->backlog);
    watcher->scratch = arena_free(watcher->scratch);
}

static void on_watch_canceled(struct http_exchange *exchange)
{
    watcher_release(exchange->context);
}

static void watcher_finish(struct watcher *watcher)
{
    struct http_exchange *exchange = watcher->call->exchange;
    watcher_release(watcher);
    exchange->on_cancel = NULL;
    exchange->on_drain = NULL;
    http_end(exchange); /* also frees the watcher */
}

static void on_watch_server_end(struct open_call *link)
{
    watcher_finish(CONTAINER_OF(link, struct watcher, link));
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Sets the current event of the backlog to the next object of the initial state, or to the bookmark
 * at the end of the initial state. */
static void begin_initial(struct watcher *watcher)
{
    struct watch_event *event = NULL;
    while (!event && watcher->initial_at < watcher->initial_count) {
        struct store_object *stored = watcher->initial[watcher->initial_at++];
        if (watch_matches(watcher, stored))
            event = watch_event_of_object(watcher, "ADDED", stored, stored->revision);
        store_object_unref(stored);
    }
    if (!event && watcher->initial_end) {
        watcher->initial_end = false;
        event = watch_bookmark_new(watcher, watcher->initial_revision, true);
    }
    if (event && watcher->ending)
        watch_event_unref(event);
    else if (event)
        watch_backlog_begin(&watcher->backlog, event);
}

/* Writes as many bytes as the connection accepts. May free the watcher. */
static void watcher_pump(struct watcher *watcher)
{
    struct http_exchange *exchange = watcher->call->exchange;
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
        watcher_finish(watcher);
}

static void on_watch_drain(struct http_exchange *exchange)
{
    watcher_pump(exchange->context);
}

/* Ends a watch whose client reads too slowly. The client still gets the rest of the current event,
 * and then an ERROR event with 410 Gone. */
static void watcher_expire(struct watcher *watcher)
{
    struct err err = ERR_INIT;
    watcher_stop(watcher);
    watcher->ending = true;
    watch_backlog_drop(&watcher->backlog);
    err_set(&err, ERR_EXPIRED,
            "too old resource version: %" PRId64 " (this watch left too many changes unread: list "
            "again)",
            watcher->seen);
    arena_reset(watcher->scratch);
    struct watch_event *event =
        watch_event_of_json(watcher, "ERROR", kube_status_from_err(watcher->scratch, &err, NULL));
    if (!watch_backlog_push(&watcher->backlog, event))
        watch_event_unref(event);
}

/* Frees the memory of a backlog, because a new event does not fit into the common limit. May free
 * the watcher. */
static void on_watch_backlog_end(struct watch_backlog *backlog)
{
    struct watcher *watcher = CONTAINER_OF(backlog, struct watcher, backlog);
    if (!watcher->ending)
        watcher_expire(watcher);
    else if (watcher->encoding)
        watch_backlog_clear(backlog);
    else
        watcher_finish(watcher);
}

/* Adds the event to the backlog, unless the watch has ended. May free the watcher. */
static void send_event(struct watcher *watcher, struct watch_event *event)
{
    if (event && watcher->ending) {
        watch_event_unref(event);
    } else if (event && !watch_backlog_push(&watcher->backlog, event)) {
        watch_event_unref(event);
        watcher_expire(watcher);
    }
    watcher_pump(watcher);
}

static void on_watch_timeout(struct loop_timer *timer)
{
    struct watcher *watcher = CONTAINER_OF(timer, struct watcher, timeout);
    watcher_stop(watcher);
    watcher->ending = true;
    /* The client continues after the last event that it has read. */
    watch_backlog_drop(&watcher->backlog);
    watcher_pump(watcher);
}

static void on_watch_event(void *context, const struct store_event *event)
{
    static const char *const types[] = {
        [STORE_ADDED] = "ADDED", [STORE_MODIFIED] = "MODIFIED", [STORE_DELETED] = "DELETED"};
    struct watcher *watcher = context;
    int64_t revision = event->object->revision;
    struct watch_event *encoded = NULL;
    if (!watcher->filter.all)
        encoded = watch_event_of_change(watcher, event);
    else if (stored_is_readable(event->object))
        encoded = watch_event_of_object(watcher, types[event->type], event->object, revision);
    watcher->seen = revision;
    send_event(watcher, encoded);
}

static void on_bookmark(struct loop_timer *timer)
{
    struct watcher *watcher = CONTAINER_OF(timer, struct watcher, bookmark);
    /* A change is added to the backlog in the same turn in which it is committed, so the backlog
     * has all changes up to this revision. */
    watcher->seen = store_revision(engine_store(watcher->call->engine));
    loop_timer_start(timer, BOOKMARK_MS);
    send_event(watcher, watch_bookmark_new(watcher, watcher->seen, false));
}

/* ---- Start ----------------------------------------------------------------------------------- */

struct watch_options {
    int64_t since; /* the revision to start after; -1: the watch sends the current state first */
    int64_t timeout_s;
    bool initial_end; /* the watch sends a bookmark at the end of the initial state */
};

static int watch_read_options(struct api_call *call, struct watch_options *ret, struct err *err)
{
    const char *query = call->exchange->request->query;
    const char *version = api_query(call, "resourceVersion");
    const char *timeout = api_query(call, "timeoutSeconds");
    struct watch_options options = {.since = -1, .timeout_s = TIMEOUT_DEFAULT_S};
    options.initial_end = http_query_flag(query, "sendInitialEvents");
    int64_t asked = 0;
    int result = str_is_empty(version) ? 0 : api_parse_version(version, &asked, err);
    if (result < 0)
        return result;
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

/* Responds with an error as an event and ends the watch. Clients expect an error about a revision
 * that is too old or too new in the stream. */
static void answer_refused(struct watcher *watcher, const struct err *err)
{
    struct json *status = err->code == ERR_TIMEOUT
                              ? api_too_new_status(watcher->scratch, err)
                              : kube_status_from_err(watcher->scratch, err, NULL);
    watch_backlog_begin(&watcher->backlog, watch_event_of_json(watcher, "ERROR", status));
    watcher->ending = true;
    watcher_pump(watcher);
}

static int open_watch(struct watcher *watcher, const char *prefix, int64_t since, struct err *err)
{
    struct store *store = engine_store(watcher->call->engine);
    int64_t current = store_revision(store);
    if (since >= 0 && since <= FIRST_REVISION)
        return err_set(err, ERR_EXPIRED, "too old resource version: %" PRId64 " (%" PRId64 ")",
                       since, current);
    /* In Kubernetes, a watch from a later revision waits for that revision. In this server,
     * revisions are never reused. So a client with a later revision has seen another store and must
     * list again. */
    if (since > current)
        return err_set(err, ERR_EXPIRED,
                       "resource version %" PRId64 " is newer than this server's %" PRId64
                       ": list again",
                       since, current);
    watcher->seen = since >= 0 ? since : current;
    return store_watch(store, prefix, watcher->seen, on_watch_event, watcher, &watcher->watch, err);
}

static void watcher_start(struct watcher *watcher, const struct watch_options *options)
{
    struct api_call *call = watcher->call;
    struct err err = ERR_INIT;
    const char *prefix =
        stored_key(call->arena, call->route.resource, call->route.namespace_, NULL);
    http_begin(call->exchange, 200, "application/json", NULL, -1);
    if ((options->initial_end && api_check_version(call, &(int64_t){0}, &err) < 0) ||
        open_watch(watcher, prefix, options->since, &err) < 0) {
        answer_refused(watcher, &err);
        return;
    }
    if (options->since < 0) /* all objects are sent as ADDED */
        watcher->initial_count = store_list(engine_store(call->engine), prefix, &watcher->initial);
    watcher->initial_end = options->initial_end;
    watcher->initial_revision = watcher->seen;
    loop_timer_start(&watcher->timeout, options->timeout_s * 1000);
    if (watcher->bookmarks)
        loop_timer_start(&watcher->bookmark, BOOKMARK_MS);
    watcher_pump(watcher);
}

void watch_handle(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct watch_options options = {0};
    struct watcher *watcher = ARENA_NEW(call->arena, struct watcher);
    watcher->call = call;
    if (watch_read_options(call, &options, &err) < 0 ||
        api_filter_of(call, &watcher->filter, &err) < 0 ||
        kube_include_parse(api_query(call, "includeObject"), &watcher->include, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    struct loop *loop = engine_loop(call->engine);
    watcher->table = call->table;
    watcher->bookmarks = http_query_flag(call->exchange->request->query, "allowWatchBookmarks");
    watcher->scratch = arena_new();
    watcher->options = arena_printf(call->arena, "%s %s %d %d %p", api_call_version(call),
                                    call->partial ? call->partial : "", watcher->table,
                                    (int)watcher->include, (const void *)call->route.resource);
    const char *payer = call->exchange->user ? call->exchange->user : call->exchange->request->peer;
    watch_backlog_init(&watcher->backlog, engine_watch_events(call->engine),
                       call->exchange->in_process ? NULL : payer, on_watch_backlog_end);
    loop_timer_init(loop, &watcher->timeout, on_watch_timeout);
    loop_timer_init(loop, &watcher->bookmark, on_bookmark);
    open_call_add(engine_open_calls(call->engine), &watcher->link, call->route.resource->storage,
                  on_watch_server_end);
    call->exchange->context = watcher;
    call->exchange->on_cancel = on_watch_canceled;
    call->exchange->on_drain = on_watch_drain;
    watcher_start(watcher, &options);
}
