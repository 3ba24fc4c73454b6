/* LIST: the stored bytes joined into a list, or a Table of them. `limit` is taken as advice and
 * everything is answered at once, as the API allows. */
#include "base/str.h"
#include "engine/rest.h"
#include "kube/object.h"
#include "kube/table.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LIST_MAX = 256 * 1024 * 1024 };

/* The newest state is what there is: an older one may be asked for exactly only in vain, a newer
 * one comes from a client that knew another life of this store. */
static int check_version(struct rest *rest, int64_t current, struct err *err)
{
    const char *text = rest_query(rest, "resourceVersion");
    if (str_is_empty(text))
        return 0;
    int64_t asked;
    if (str_to_int64(text, 0, INT64_MAX, &asked, NULL) < 0)
        return err_set(err, ERR_BAD_REQUEST, "invalid resource version \"%.100s\"", text);
    if (asked > current)
        return err_set(err, ERR_TIMEOUT,
                       "Too large resource version: %" PRId64 ", current: %" PRId64, asked,
                       current);
    if (str_eq(rest_query(rest, "resourceVersionMatch"), "Exact") && asked != current)
        return err_set(err, ERR_EXPIRED,
                       "The provided resource version %" PRId64 " is no longer available", asked);
    return 0;
}

struct list {
    struct rest *rest;
    struct rest_filter filter;
    struct store_object **objects;
    size_t count;
    int64_t revision;
};

static int write_plain(struct list *list, struct err *err)
{
    const struct registry_resource *resource = list->rest->route.resource;
    _cleanup_buf_ struct buf body;
    buf_init(&body, LIST_MAX);
    buf_printf(&body,
               "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":"
               "\"%" PRId64 "\"},\"items\":[",
               resource->list_kind, rest_api_version(list->rest), list->revision);
    bool first = true;
    struct arena *scratch = arena_new();
    for (size_t i = 0; i < list->count; i++) {
        const struct store_object *object = list->objects[i];
        if (!list->filter.all) {
            struct json *json;
            arena_reset(scratch);
            if (rest_parse(scratch, object, &json, NULL) < 0 ||
                !rest_filter_matches(&list->filter, json))
                continue;
        }
        if (!first)
            buf_append_char(&body, ',');
        first = false;
        rest_append_stored(list->rest, scratch, object->data, object->size, &body);
    }
    arena_free(scratch);
    buf_append_str(&body, "]}\n");
    if (body.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "the list is larger than %d bytes: ask for less with a selector", LIST_MAX);
    http_respond(list->rest->exchange, 200, "application/json", body.data, body.size);
    return 0;
}

static int write_table(struct list *list, struct err *err)
{
    struct rest *rest = list->rest;
    enum kube_include include;
    int r = kube_include_parse(rest_query(rest, "includeObject"), &include, err);
    if (r < 0)
        return r;
    int64_t now = loop_wall_ms(engine_loop(rest->engine));
    const struct kube_columns *columns = rest_columns(rest);
    struct json *meta = json_object(rest->arena);
    json_set(rest->arena, meta, "resourceVersion",
             json_stringf(rest->arena, "%" PRId64, list->revision));
    struct json *table = kube_table_new(rest->arena, columns, meta, true);
    struct arena *scratch = arena_new();
    for (size_t i = 0; i < list->count; i++) {
        struct json *json;
        arena_reset(scratch);
        if (rest_parse(scratch, list->objects[i], &json, NULL) == 0 &&
            rest_filter_matches(&list->filter, json))
            kube_table_add(rest->arena, table, columns, json, include, now);
    }
    arena_free(scratch);
    rest_respond_json(rest, 200, table);
    return 0;
}

void rest_list(struct rest *rest)
{
    struct store *store = engine_store(rest->engine);
    struct list list = {.rest = rest, .revision = store_revision(store)};
    struct err err = ERR_INIT;
    if (rest_filter_of(rest, &list.filter, &err) < 0 ||
        check_version(rest, list.revision, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    list.count =
        store_list(store, rest_key(rest->arena, rest->route.resource, rest->route.namespace_, NULL),
                   &list.objects);
    int r = rest->table ? write_table(&list, &err) : write_plain(&list, &err);
    if (r < 0)
        rest_respond_error(rest, &err);
    for (size_t i = 0; i < list.count; i++)
        store_object_unref(list.objects[i]);
    free(list.objects);
}
