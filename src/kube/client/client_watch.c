/* Watches on the client's transport; see client.h. Each watch asks the server to end it after a
 * random time of some minutes, so that the watchers of a restarted server do not all reconnect at
 * once. A connection that is silent for WATCH_SILENCE_MS is treated as broken. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/client/client_internal.h"
#include "kube/client/watch_decoder.h"
#include "kube/status.h"

#include <string.h>

enum {
    WATCH_MIN_S = 300,             /* shortest time after which the server ends a watch */
    WATCH_SPREAD_S = 300,          /* the random time that is added */
    WATCH_GRACE_S = 30,            /* after this further time the transport ends the request */
    WATCH_SILENCE_MS = 150 * 1000, /* the server sends a bookmark every minute */
    ERROR_BODY_MAX = 64 * 1024,    /* bytes kept of an error answer */
    WAITING_MAX = 64 << 20,        /* bytes that may arrive while a large event is decoded */
};

/* A large event that a pool thread decodes. */
struct decoding {
    struct loop_work work;
    struct kube_watch *watch;  /* NULL: the watch was stopped in the meantime */
    struct buf line;           /* the text of the event */
    struct arena *arena;       /* holds the object of `event` */
    struct watch_change event; /* the decoded event; its object is NULL on failure */
    int result;                /* 0, or a negative code with `err` */
    struct err err;
};

struct kube_watch {
    struct kube_client *client; /* NULL once stopped */
    struct list_link link;      /* in kube_client.watches */
    struct http_call *http;     /* NULL after the request has ended */
    int status;                 /* HTTP status of the answer; 0: no answer yet */
    struct buf error_body;      /* body of an answer with an error status */
    struct watch_decoder decoder;
    struct decoding *decoding; /* the large event that is being decoded, or NULL */
    struct buf waiting;        /* data that arrived while the event is decoded */
    bool ended;                /* the request has ended, with `end_err` */
    struct err end_err;        /* the error of the request; code 0: none */
    struct arena *event_arena; /* the arena of the large object that `event` gets, or NULL */
    char *what;                /* "watch /api/v1/pods", for errors */
    struct loop_timer silence; /* expires when no data has arrived for WATCH_SILENCE_MS */
    bool busy;                 /* a callback runs, so the watch must not be freed */
    kube_watch_event *event;
    kube_watch_end *end;
    void *context;
};

static void watch_free(struct kube_watch *watch)
{
    if (watch->decoding)
        watch->decoding->watch = NULL;
    buf_release(&watch->waiting);
    arena_free(watch->event_arena);
    buf_release(&watch->error_body);
    watch_decoder_release(&watch->decoder);
    free(watch->what);
    free(watch);
}

/* Cancels the request and removes the watch from the client. */
static void watch_detach(struct kube_watch *watch)
{
    if (!watch->client)
        return;
    loop_timer_stop(&watch->silence);
    if (watch->http)
        http_cancel(watch->client->transport, watch->http);
    watch->http = NULL;
    list_remove(&watch->link);
    watch->client = NULL;
}

void kube_watch_stop(struct kube_watch *watch)
{
    if (!watch)
        return;
    watch_detach(watch);
    if (!watch->busy)
        watch_free(watch);
}

void kube_client_stop_watches(struct kube_client *client)
{
    LIST_EACH_SAFE (struct kube_watch, watch, &client->watches, link)
        kube_watch_stop(watch);
}

/* Calls `end` and frees the watch. */
static void watch_report_end(struct kube_watch *watch, const struct err *err)
{
    watch_detach(watch);
    watch->busy = true;
    watch->end(watch->context, err);
    watch_free(watch);
}

/* Calls `event`. Returns false if that stopped the watch, which the caller must free then. */
static bool on_watch_event(void *context, const char *type, struct json *object)
{
    struct kube_watch *watch = context;
    watch->busy = true;
    watch->event(watch->context, type, object);
    watch->busy = false;
    return watch->client != NULL;
}

static void on_watch_head(void *context, int status, const struct http_header *headers)
{
    struct kube_watch *watch = context;
    watch->status = status;
}

/* ---- large events ---- */

struct arena *kube_watch_take_arena(struct kube_watch *watch)
{
    struct arena *arena = watch->event_arena;
    watch->event_arena = NULL;
    return arena;
}

/* Runs on a pool thread. */
static void watch_decode_line(struct loop_work *work)
{
    struct decoding *decoding = CONTAINER_OF(work, struct decoding, work);
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    struct watch_change event;
    decoding->result = watch_decoder_read(scratch, decoding->line.data, decoding->line.size, &event,
                                          &decoding->err);
    if (decoding->result < 0 || !event.object)
        return;
    struct json *metadata = json_get(event.object, "metadata");
    if (metadata && metadata->type == JSON_OBJECT)
        json_remove(metadata, "managedFields");
    decoding->event.type = event.type;
    decoding->event.object = json_clone(decoding->arena, event.object);
}

static void on_decoded(struct loop_work *work);

/* Decodes a large line on a pool thread. The decoder has the beginning of the line, and `data` is
 * the rest. */
static void start_decoding(struct kube_watch *watch, const char *data, size_t size)
{
    struct decoding *decoding = mem_zalloc(sizeof(*decoding));
    decoding->work = (struct loop_work){.work = watch_decode_line, .done = on_decoded};
    decoding->watch = watch;
    decoding->arena = arena_new();
    decoding->line = watch->decoder.line;
    buf_init(&watch->decoder.line, WATCH_LINE_MAX);
    buf_append(&decoding->line, data, size);
    watch->decoding = decoding;
    loop_work_start(watch->client->loop, &decoding->work);
}

/* Decodes line by line up to a large event. Stores the data after a large event in `waiting`. */
static int watch_feed(struct kube_watch *watch, const char *data, size_t size, struct err *err)
{
    const char *end = data + size;
    int result = 0;
    while (data < end && result == 0 && watch->client) {
        const char *newline = memchr(data, '\n', (size_t)(end - data));
        size_t piece = (size_t)((newline ? newline + 1 : end) - data);
        size_t line = watch->decoder.line.size + piece;
        if (newline && line >= KUBE_WATCH_LARGE && line <= WATCH_LINE_MAX) {
            start_decoding(watch, data, piece - 1);
            buf_append(&watch->waiting, newline + 1, (size_t)(end - newline - 1));
            return 0;
        }
        result = watch_decoder_feed(&watch->decoder, data, piece, on_watch_event, watch, err);
        data += piece;
    }
    return result;
}

/* Decodes the data. Ends the watch if that fails. Returns false if the watch was freed. */
static bool watch_take_data(struct kube_watch *watch, const char *data, size_t size)
{
    struct err err = ERR_INIT;
    int result = watch_feed(watch, data, size, &err);
    if (watch->client && result == 0)
        return true;
    if (watch->client)
        watch_report_end(watch, &err);
    else
        watch_free(watch);
    return false;
}

/* Ends the watch after its request has ended and all data is decoded. */
static void watch_finish(struct kube_watch *watch)
{
    struct err err = watch->end_err;
    if (!err.code)
        watch_decoder_end(&watch->decoder, &err);
    watch_report_end(watch, err.code ? &err : NULL);
}

static void on_decoded(struct loop_work *work)
{
    struct decoding *decoding = CONTAINER_OF(work, struct decoding, work);
    struct kube_watch *watch = decoding->watch;
    struct watch_change event = decoding->event;
    struct arena *arena = decoding->arena;
    int result = decoding->result;
    struct err err = decoding->err;
    buf_release(&decoding->line);
    free(decoding);
    if (!watch) {
        arena_free(arena);
        return;
    }
    watch->decoding = NULL;
    watch->event_arena = arena;
    if (result < 0) {
        watch_report_end(watch, &err);
        return;
    }
    if (event.object && !on_watch_event(watch, event.type, event.object)) {
        watch_free(watch);
        return;
    }
    watch->event_arena = arena_free(watch->event_arena);
    struct buf waiting = watch->waiting;
    buf_init(&watch->waiting, WAITING_MAX);
    bool lives = watch_take_data(watch, waiting.data, waiting.size);
    buf_release(&waiting);
    if (lives && watch->ended && !watch->decoding)
        watch_finish(watch);
}

static void on_watch_data(void *context, const void *data, size_t size)
{
    struct kube_watch *watch = context;
    loop_timer_start(&watch->silence, WATCH_SILENCE_MS);
    if (watch->status >= 400) {
        buf_append(&watch->error_body, data, size);
    } else if (!watch->decoding) {
        watch_take_data(watch, data, size);
    } else {
        buf_append(&watch->waiting, data, size);
        if (watch->waiting.overflowed) {
            struct err err = ERR_INIT;
            err_set(
                &err, ERR_UNAVAILABLE,
                "%s: events arrive faster than they are decoded: more than %d bytes are waiting",
                watch->what, WAITING_MAX);
            watch_report_end(watch, &err);
        }
    }
}

/* The connection was silent for too long and counts as broken: the watch ends as if the server had
 * ended it. */
static void on_silence(struct loop_timer *timer)
{
    watch_report_end(CONTAINER_OF(timer, struct kube_watch, silence), NULL);
}

static void on_watch_end(void *context, const struct err *transport_err)
{
    struct kube_watch *watch = context;
    struct err err = ERR_INIT;
    watch->http = NULL;
    if (transport_err)
        err = *transport_err;
    else if (watch->status >= 400)
        kube_status_of_answer(watch->status, watch->error_body.data, watch->error_body.size,
                              watch->what, &err);
    watch->ended = true;
    watch->end_err = err;
    if (!watch->decoding)
        watch_finish(watch);
}

struct kube_watch *kube_watch_start(struct kube_client *client,
                                    const struct kube_resource *resource, const char *namespace_,
                                    const char *label_selector, const char *field_selector,
                                    const char *resource_version, kube_watch_event *event,
                                    kube_watch_end *end, void *context)
{
    static const struct http_callbacks LISTENER = {on_watch_head, on_watch_data, on_watch_end};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    int64_t seconds = WATCH_MIN_S + (int64_t)rand_below(&client->rand, WATCH_SPREAD_S);
    char *query = arena_printf(arena, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%lld",
                               (long long)seconds);
    query = kube_query_add(arena, query, "labelSelector", label_selector);
    query = kube_query_add(arena, query, "fieldSelector", field_selector);
    query = kube_query_add(arena, query, "resourceVersion", resource_version);
    const char *path = kube_resource_path(arena, resource, namespace_, NULL, NULL);

    struct kube_watch *watch = mem_zalloc(sizeof(*watch));
    watch->client = client;
    list_push(&client->watches, &watch->link);
    buf_init(&watch->error_body, ERROR_BODY_MAX);
    watch_decoder_init(&watch->decoder);
    buf_init(&watch->waiting, WAITING_MAX);
    watch->what = mem_printf("watch %s", path);
    watch->event = event;
    watch->end = end;
    watch->context = context;
    loop_timer_init(client->loop, &watch->silence, on_silence);
    loop_timer_start(&watch->silence, WATCH_SILENCE_MS);
    struct http_request http = {
        .method = "GET",
        .path = path,
        .query = query,
        .headers = kube_client_headers(client, arena, NULL, NULL),
    };
    watch->http =
        http_start(client->transport, &http, (seconds + WATCH_GRACE_S) * 1000, &LISTENER, watch);
    return watch;
}
