/* The fake API; see fake_api.h. */
#include "fake_api.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_watcher {
    struct fake_api *api;
    struct http_exchange *exchange;
};

struct fake_reply {
    struct fake_api *api;
    struct http_exchange *exchange;
    struct loop_timer timer;
    int status;
    char *body;
};

static void handle(struct http_exchange *exchange, void *context);

void fake_api_init(struct fake_api *api, struct loop *loop)
{
    *api = (struct fake_api){.loop = loop, .revision = 100};
    api->transport = http_local_new(loop, handle, api, "token");
}

static void reply_forget(struct fake_reply *reply)
{
    struct fake_api *api = reply->api;
    for (size_t i = 0; i < api->replies.count; i++)
        if (api->replies.items[i] == reply) {
            vec_remove(&api->replies, i);
            break;
        }
    loop_timer_stop(&reply->timer);
    free(reply->body);
    free(reply);
}

void fake_api_release(struct fake_api *api)
{
    /* Cancels every exchange, which removes it from our lists. */
    http_transport_free(api->transport);
    for (size_t i = 0; i < api->names.count; i++) {
        free(map_get(&api->objects, api->names.items[i]));
        free(api->names.items[i]);
    }
    for (size_t i = 0; i < api->history.count; i++)
        free(api->history.items[i].line);
    for (size_t i = 0; i < api->requests.count; i++)
        free(api->requests.items[i]);
    while (api->replies.count)
        reply_forget(api->replies.items[0]);
    vec_release(&api->names);
    vec_release(&api->history);
    vec_release(&api->requests);
    vec_release(&api->watchers);
    vec_release(&api->replies);
    map_release(&api->objects);
}

/* ---- Objects and history ---- */

void fake_api_write_watches(struct fake_api *api, const char *text)
{
    for (size_t i = 0; i < api->watchers.count; i++)
        http_write(api->watchers.items[i]->exchange, text, strlen(text));
}

static void record(struct fake_api *api, const char *type, const char *object)
{
    struct fake_event event = {
        .revision = api->revision,
        .line = mem_printf("{\"type\":\"%s\",\"object\":%s}\n", type, object),
    };
    vec_push(&api->history, event);
    fake_api_write_watches(api, event.line);
}

static char *pod_text(const char *name, const char *value, int64_t revision)
{
    return mem_printf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\","
                      "\"resourceVersion\":\"%lld\",\"labels\":{\"v\":\"%s\"},"
                      "\"managedFields\":[{\"manager\":\"tester\"}]}}",
                      name, name, (long long)revision, value);
}

void fake_api_put(struct fake_api *api, const char *name, const char *value)
{
    char *text = pod_text(name, value, ++api->revision);
    char *old = map_put(&api->objects, name, text);
    if (!old)
        vec_push(&api->names, mem_strdup(name));
    free(old);
    record(api, old ? "MODIFIED" : "ADDED", text);
}

static char *take_object(struct fake_api *api, const char *name)
{
    for (size_t i = 0; i < api->names.count; i++) {
        if (strcmp(api->names.items[i], name) != 0)
            continue;
        free(api->names.items[i]);
        vec_remove(&api->names, i);
        break;
    }
    return map_remove(&api->objects, name);
}

void fake_api_delete_unseen(struct fake_api *api, const char *name)
{
    api->revision++;
    free(take_object(api, name));
}

void fake_api_delete(struct fake_api *api, const char *name)
{
    free(take_object(api, name));
    char *last = pod_text(name, "gone", ++api->revision);
    record(api, "DELETED", last);
    free(last);
}

void fake_api_bookmark(struct fake_api *api)
{
    api->revision++;
    char *line = mem_printf("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":"
                            "{\"resourceVersion\":\"%lld\"}}}\n",
                            (long long)api->revision);
    fake_api_write_watches(api, line);
    free(line);
}

void fake_api_cut_watches(struct fake_api *api, bool within_line)
{
    if (within_line)
        fake_api_write_watches(api, "{\"type\":\"ADDED\",\"obj");
    while (api->watchers.count) {
        struct fake_watcher *watcher = api->watchers.items[0];
        vec_remove(&api->watchers, 0);
        http_end(watcher->exchange);
        free(watcher);
    }
}

size_t fake_api_count(const struct fake_api *api, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < api->requests.count; i++)
        count += strstr(api->requests.items[i], text) != NULL;
    return count;
}

/* ---- Answers ---- */

static void on_reply_time(struct loop_timer *timer)
{
    struct fake_reply *reply = CONTAINER_OF(timer, struct fake_reply, timer);
    http_respond(reply->exchange, reply->status, "application/json", reply->body,
                 strlen(reply->body));
    reply_forget(reply);
}

static void on_reply_cancel(struct http_exchange *exchange)
{
    reply_forget(exchange->context);
}

/* Takes ownership of the body. */
static void answer(struct fake_api *api, struct http_exchange *exchange, int status, char *body)
{
    if (api->delay_ms == 0 && !api->silent) {
        struct http_header later = {"Retry-After", api->retry_after, NULL};
        http_begin(exchange, status, "application/json",
                   api->retry_after && status >= 400 ? &later : NULL, (int64_t)strlen(body));
        http_write(exchange, body, strlen(body));
        http_end(exchange);
        free(body);
        return;
    }
    struct fake_reply *reply = mem_zalloc(sizeof(*reply));
    *reply = (struct fake_reply){api, exchange, .status = status, .body = body};
    vec_push(&api->replies, reply);
    exchange->context = reply;
    exchange->on_cancel = on_reply_cancel;
    loop_timer_init(api->loop, &reply->timer, on_reply_time);
    if (!api->silent)
        loop_timer_start(&reply->timer, api->delay_ms);
}

static char *status_text(int status)
{
    return mem_printf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                      "\"message\":\"asked to fail\",\"code\":%d}",
                      status);
}

/* The continue token is the number of objects listed so far. */
static char *list_text(struct fake_api *api, struct http_exchange *exchange)
{
    const char *query = exchange->request->query;
    const char *from = http_query_get(exchange->arena, query, "continue");
    size_t first = from ? (size_t)atoll(from) : 0, end = api->names.count;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    buf_printf(&buf, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"%lld\"",
               (long long)api->revision);
    if (api->page_max && http_query_get(exchange->arena, query, "limit") &&
        first + api->page_max < end) {
        end = first + api->page_max;
        buf_printf(&buf, ",\"continue\":\"%zu\"", end);
    }
    buf_append_str(&buf, "},\"items\":[");
    for (size_t i = first; i < end; i++)
        buf_printf(&buf, "%s%s", i > first ? "," : "",
                   (const char *)map_get(&api->objects, api->names.items[i]));
    buf_append_str(&buf, "]}");
    return buf_take(&buf);
}

static void on_watch_cancel(struct http_exchange *exchange)
{
    struct fake_watcher *watcher = exchange->context;
    struct fake_api *api = watcher->api;
    for (size_t i = 0; i < api->watchers.count; i++)
        if (api->watchers.items[i] == watcher) {
            vec_remove(&api->watchers, i);
            break;
        }
    free(watcher);
}

static void start_watch(struct fake_api *api, struct http_exchange *exchange)
{
    const char *text = http_query_get(exchange->arena, exchange->request->query, "resourceVersion");
    int64_t from = text ? atoll(text) : 0;
    if (from < api->oldest_revision && api->refuse_old_by_status) {
        answer(api, exchange, 410, status_text(410));
        return;
    }
    http_begin(exchange, 200, "application/json", NULL, -1);
    if (from < api->oldest_revision) {
        char *status = status_text(410);
        char *line = arena_printf(exchange->arena, "{\"type\":\"ERROR\",\"object\":%s}\n", status);
        http_write(exchange, line, strlen(line));
        http_end(exchange);
        free(status);
        return;
    }
    for (size_t i = 0; i < api->history.count; i++)
        if (api->history.items[i].revision > from)
            http_write(exchange, api->history.items[i].line, strlen(api->history.items[i].line));
    struct fake_watcher *watcher = mem_zalloc(sizeof(*watcher));
    *watcher = (struct fake_watcher){api, exchange};
    exchange->context = watcher;
    exchange->on_cancel = on_watch_cancel;
    vec_push(&api->watchers, watcher);
}

static void handle(struct http_exchange *exchange, void *context)
{
    struct fake_api *api = context;
    const struct http_request *request = exchange->request;
    snprintf(api->accept, sizeof(api->accept), "%s", http_header_get(request->headers, "Accept"));
    vec_push(&api->requests, mem_printf("%s %s?%s %.*s", request->method, request->path,
                                        request->query, (int)request->body_size, request->body));
    if (api->fail_count > 0) {
        api->fail_count--;
        answer(api, exchange, api->fail_status, status_text(api->fail_status));
    } else if (!str_eq(request->method, "GET")) {
        answer(api, exchange, str_eq(request->method, "POST") ? 201 : 200,
               mem_strndup(request->body_size ? request->body : "{}",
                           request->body_size ? request->body_size : 2));
    } else if (strstr(request->query, "watch=true") && !api->silent) {
        start_watch(api, exchange);
    } else if (str_has_suffix(request->path, "/pods")) {
        answer(api, exchange, 200, list_text(api, exchange));
    } else {
        const char *text = map_get(&api->objects, strrchr(request->path, '/') + 1);
        answer(api, exchange, text ? 200 : 404, text ? mem_strdup(text) : status_text(404));
    }
}
