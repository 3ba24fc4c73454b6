/* Encodes the events of a watch as JSON lines; see internal.h. If a watcher requests whole objects
 * in the stored version, its events contain the stored bytes. A watcher with a selector gets ADDED
 * when an object starts to match the selector, and DELETED when the object stops matching. If a
 * watcher requests Tables, each event has one row. */
#include "base/buf.h"
#include "engine/stored/version_trees.h"
#include "engine/watch/internal.h"
#include "kube/object.h"
#include "kube/table/table.h"

#include <inttypes.h>

enum { EVENT_MAX = 64 * 1024 * 1024 };

static void append_stored(struct watcher *watcher, const char *type,
                          const struct store_object *stored, struct buf *out)
{
    buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
    api_append_stored(watcher->call, watcher->scratch, stored, out);
    buf_append_str(out, "}\n");
}

static void append_json(struct watcher *watcher, const char *type, struct json *object,
                        struct buf *out)
{
    api_convert_out(watcher->call, watcher->scratch, object);
    buf_printf(out, "{\"type\":\"%s\",\"object\":", type);
    json_write(object, out);
    buf_append_str(out, "}\n");
}

struct watch_event *watch_event_of_json(struct watcher *watcher, const char *type,
                                        struct json *object)
{
    _cleanup_buf_ struct buf out;
    buf_init(&out, EVENT_MAX);
    append_json(watcher, type, object, &out);
    return watch_events_add(engine_watch_events(watcher->call->engine), NULL, out.data, out.size);
}

static struct json *as_table(struct watcher *watcher, const struct json *object)
{
    struct arena *arena = watcher->scratch;
    const struct kube_columns *columns = api_columns(watcher->call);
    struct json *meta = json_object(arena);
    json_set_string(arena, meta, "resourceVersion", kube_meta_resource_version(object));
    struct json *table = kube_table_new(arena, columns, meta, !watcher->columns_sent);
    kube_table_add(arena, table, columns, object, watcher->include,
                   loop_wall_ms(engine_loop(watcher->call->engine)));
    watcher->columns_sent = true;
    return table;
}

static const struct json *watch_tree_of(struct watcher *watcher, struct store_object *stored)
{
    return version_trees_get(engine_version_trees(watcher->call->engine), stored);
}

/* Returns the object as a Table or as a PartialObjectMetadata. */
static struct json *as_table_or_partial(struct watcher *watcher, const struct json *object)
{
    return watcher->table ? as_table(watcher, object)
                          : api_as_partial(watcher->call, watcher->scratch, object);
}

static bool wants_whole_objects(const struct watcher *watcher)
{
    return !watcher->table && !watcher->call->partial;
}

/* Appends a stored object in the form that the watcher requests. */
static void append_requested_form(struct watcher *watcher, const char *type,
                                  struct store_object *stored, struct buf *out)
{
    const struct json *json;
    if (wants_whole_objects(watcher))
        append_stored(watcher, type, stored, out);
    else if ((json = watch_tree_of(watcher, stored)))
        append_json(watcher, type, as_table_or_partial(watcher, json), out);
}

/* Appends the event of an object that stopped matching the selector. The event shows the previous
 * version, which matched, with the revision of the change. */
static void append_removed_object(struct watcher *watcher, struct store_object *previous,
                                  int64_t revision, struct buf *out)
{
    struct arena *arena = watcher->scratch;
    struct json *left = json_clone(arena, watch_tree_of(watcher, previous));
    json_set(arena, json_ensure_object(arena, left, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRId64, revision));
    append_json(watcher, "DELETED",
                wants_whole_objects(watcher) ? left : as_table_or_partial(watcher, left), out);
}

struct watch_event *watch_event_of_object(struct watcher *watcher, const char *type,
                                          struct store_object *stored, int64_t revision)
{
    struct watch_events *events = engine_watch_events(watcher->call->engine);
    int64_t now_ms = loop_wall_ms(engine_loop(watcher->call->engine));
    const struct watch_event_key key = {.revision = revision,
                                        .type = type,
                                        .columns = watcher->table && !watcher->columns_sent,
                                        .second = watcher->table ? now_ms / 1000 : 0,
                                        .options = watcher->options};
    struct watch_event *event = watch_events_find(events, &key);
    if (event) {
        watcher->columns_sent = true;
        return event;
    }
    _cleanup_buf_ struct buf out;
    buf_init(&out, EVENT_MAX);
    arena_reset(watcher->scratch);
    if (revision == stored->revision)
        append_requested_form(watcher, type, stored, &out);
    else
        append_removed_object(watcher, stored, revision, &out);
    if (!out.size)
        return NULL;
    watcher->encoding = true;
    event = watch_events_add(events, &key, out.data, out.size);
    watcher->encoding = false;
    return event;
}

bool watch_matches(struct watcher *watcher, struct store_object *stored)
{
    if (!stored || watcher->filter.all)
        return stored && stored_is_readable(stored);
    const struct json *json = watch_tree_of(watcher, stored);
    return json && api_filter_matches(&watcher->filter, json);
}

struct watch_event *watch_event_of_change(struct watcher *watcher, const struct store_event *event)
{
    struct store_object *object = event->object;
    bool was = watch_matches(watcher, event->previous);
    if (event->type == STORE_DELETED)
        return was ? watch_event_of_object(watcher, "DELETED", object, object->revision) : NULL;
    if (watch_matches(watcher, object))
        return watch_event_of_object(watcher, was ? "MODIFIED" : "ADDED", object, object->revision);
    return was ? watch_event_of_object(watcher, "DELETED", event->previous, object->revision)
               : NULL;
}

struct watch_event *watch_bookmark_new(struct watcher *watcher, int64_t revision, bool initial_end)
{
    struct arena *arena = watcher->scratch;
    arena_reset(arena);
    struct json *object = json_object(arena);
    kube_object_set_kind(arena, object, &watcher->call->route.resource->id);
    struct json *meta = json_ensure_object(arena, object, "metadata");
    json_set(arena, meta, "resourceVersion", json_stringf(arena, "%" PRId64, revision));
    json_set(arena, meta, "creationTimestamp", json_null(arena));
    if (initial_end)
        kube_meta_set_annotation(arena, object, "k8s.io/initial-events-end", "true");
    if (watcher->table) {
        const struct kube_columns *columns = api_columns(watcher->call);
        object = kube_table_new(arena, columns, meta, false);
    } else if (watcher->call->partial) {
        object = as_table_or_partial(watcher, object);
    }
    return watch_event_of_json(watcher, "BOOKMARK", object);
}
