/* The reader of progress; see progress_reader.h. Each job that can be asked has a timer; when it
 * fires the job queues up. Those in the queue are asked one after the other at a bounded pace, so
 * that with many jobs each is asked less often instead of the API being written to more often. */
#include "operator/controller/progress_reader.h"

#include "operator/reconcile/progress_text.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "net/http/fetch.h"

#include <stdlib.h>

enum {
    FIRST_MS = 1000,
    INTERVAL_MS = 5 * 1000,
    BACK_OFF_MAX_MS = 60 * 1000, /* of a pod that does not answer */
    PACE_MS = 100,               /* between two questions of all */
    UNDER_WAY_MAX = 16,
    TIMEOUT_MS = 3 * 1000,
};

/* One job that can be asked. */
struct asked {
    struct progress_reader *reader;
    char *key, *namespace_, *name;
    struct kube_object *pod;
    int port;
    char *text; /* last put on the job; NULL: not known */
    struct loop_timer timer;
    int64_t interval_ms;
    struct asked *next; /* in the queue */
    bool queued;
    void *dialing;
    struct http_fetch *fetch;
    bool writing; /* the client will call back */
    bool gone;    /* nobody asks any more; freed after the call back */
    struct asked *next_gone, *previous_gone;
};

struct progress_reader {
    struct loop *loop;
    struct kube_client *client;
    const struct training_kind *kind;
    struct training_dialer dialer;
    struct map jobs; /* struct asked */
    struct asked *first, **last;
    struct asked *gone;
    struct loop_timer pace;
    int64_t asked_ms; /* when somebody was asked last */
    size_t under_way;
};

/* ---- one question ---------------------------------------------------------------------------- */

static void serve_queue(struct progress_reader *reader);

/* The question is over, one way or the other. */
static void poll_end(struct asked *asked, bool answered)
{
    asked->reader->under_way--;
    if (answered)
        asked->interval_ms = INTERVAL_MS;
    else if ((asked->interval_ms *= 2) > BACK_OFF_MAX_MS)
        asked->interval_ms = BACK_OFF_MAX_MS;
    loop_timer_start(&asked->timer, asked->interval_ms);
    serve_queue(asked->reader);
}

static void poll_fail(struct asked *asked, const struct err *err)
{
    log_debug(asked->key, "no progress from pod %s, port %d: %s", asked->pod->name, asked->port,
              err->message);
    poll_end(asked, false);
}

static void asked_free(struct asked *asked)
{
    if (asked->pod)
        kube_object_unref(asked->pod);
    free(asked->key);
    free(asked->namespace_);
    free(asked->name);
    free(asked->text);
    free(asked);
}

static void poll_free(struct asked *asked)
{
    if (asked->previous_gone)
        asked->previous_gone->next_gone = asked->next_gone;
    else
        asked->reader->gone = asked->next_gone;
    if (asked->next_gone)
        asked->next_gone->previous_gone = asked->previous_gone;
    asked_free(asked);
}

static void on_progress_written(void *context, struct json *object, const struct err *err)
{
    struct asked *asked = context;

    asked->writing = false;
    if (asked->gone) {
        poll_free(asked);
        return;
    }
    if (err) { /* the next answer is written whatever it is */
        log_debug(asked->key, "cannot write the progress: %s", err->message);
        free(TAKE(asked->text));
    }
}

/* Without a version: it says nothing about what else is on the job. */
static void poll_write_annotation(struct asked *asked, struct arena *arena, const char *text)
{
    struct json *patch = json_object(arena);
    struct json *metadata = json_ensure_object(arena, patch, "metadata");

    if (asked->writing || str_eq(asked->text, text))
        return;
    json_set_string(arena, json_ensure_object(arena, metadata, "annotations"),
                    TRAINING_PROGRESS_ANNOTATION, text);
    free(asked->text);
    asked->text = mem_strdup(text);
    asked->writing = true;
    kube_patch(asked->reader->client, asked->reader->kind->resource, asked->namespace_, asked->name,
               NULL, patch, on_progress_written, asked);
}

static void on_fetched(void *context, int status, const char *body, size_t size,
                       const struct err *err)
{
    struct asked *asked = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err problem = ERR_INIT;
    char *text = NULL;

    asked->fetch = NULL;
    if (err) {
        poll_fail(asked, err);
    } else if (status != 200) {
        err_set(&problem, ERR_UNAVAILABLE, "it answers with status %d", status);
        poll_fail(asked, &problem);
    } else if (training_progress_text(arena, size ? body : "", size, &text, &problem) < 0) {
        poll_fail(asked, &problem);
    } else {
        poll_write_annotation(asked, arena, text);
        poll_end(asked, true);
    }
}

static void on_poll_connected(void *context, struct stream *stream, const struct err *err)
{
    struct asked *asked = context;
    const struct http_fetch_options options = {
        .host = asked->pod->name,
        .path = "/progress",
        .body_max = TRAINING_PROGRESS_DOCUMENT_MAX,
        .timeout_ms = TIMEOUT_MS,
    };

    asked->dialing = NULL;
    if (stream)
        asked->fetch = http_fetch_start(asked->reader->loop, stream, &options, on_fetched, asked);
    else
        poll_fail(asked, err);
}

static void poll_start(struct asked *asked)
{
    struct progress_reader *reader = asked->reader;

    reader->under_way++;
    asked->dialing = reader->dialer.open(reader->dialer.context, asked->pod->json, asked->port,
                                         on_poll_connected, asked);
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void serve_queue(struct progress_reader *reader)
{
    int64_t wait_ms = reader->asked_ms + PACE_MS - loop_now_ms(reader->loop);
    struct asked *asked = reader->first;

    if (!asked || reader->under_way >= UNDER_WAY_MAX)
        return;
    if (wait_ms > 0) {
        if (!reader->pace.running)
            loop_timer_start(&reader->pace, wait_ms);
        return;
    }
    reader->first = asked->next;
    if (!reader->first)
        reader->last = &reader->first;
    asked->queued = false;
    reader->asked_ms = loop_now_ms(reader->loop);
    poll_start(asked);
    if (reader->first)
        loop_timer_start(&reader->pace, PACE_MS);
}

static void on_pace(struct loop_timer *timer)
{
    serve_queue(CONTAINER_OF(timer, struct progress_reader, pace));
}

static void on_due(struct loop_timer *timer)
{
    struct asked *asked = CONTAINER_OF(timer, struct asked, timer);
    struct progress_reader *reader = asked->reader;

    asked->queued = true;
    asked->next = NULL;
    *reader->last = asked;
    reader->last = &asked->next;
    serve_queue(reader);
}

static void leave_queue(struct asked *asked)
{
    struct progress_reader *reader = asked->reader;

    if (!asked->queued)
        return;
    for (struct asked **at = &reader->first; *at; at = &(*at)->next) {
        if (*at != asked)
            continue;
        *at = asked->next;
        if (reader->last == &asked->next)
            reader->last = at;
        break;
    }
    asked->queued = false;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Whatever is under way for it is given up. */
static void poll_stop(struct asked *asked)
{
    bool busy = asked->dialing || asked->fetch;

    loop_timer_stop(&asked->timer);
    leave_queue(asked);
    if (asked->dialing)
        asked->reader->dialer.cancel(TAKE(asked->dialing));
    if (asked->fetch)
        http_fetch_cancel(TAKE(asked->fetch));
    asked->reader->under_way -= busy;
}

void progress_reader_forget(struct progress_reader *reader, const char *key)
{
    struct asked *asked = map_remove(&reader->jobs, key);

    if (!asked)
        return;
    poll_stop(asked);
    if (!asked->writing) {
        asked_free(asked);
    } else {
        asked->gone = true;
        asked->next_gone = reader->gone;
        if (asked->next_gone)
            asked->next_gone->previous_gone = asked;
        reader->gone = asked;
    }
    serve_queue(reader);
}

static struct asked *asked_new(struct progress_reader *reader, const char *key,
                               const struct kube_object *job)
{
    const char *text = kube_meta_annotation(job->json, TRAINING_PROGRESS_ANNOTATION);
    struct asked *asked = mem_zalloc(sizeof(*asked));

    asked->reader = reader;
    asked->key = mem_strdup(key);
    asked->namespace_ = mem_strdup(job->namespace_);
    asked->name = mem_strdup(job->name);
    asked->text = text ? mem_strdup(text) : NULL;
    loop_timer_init(reader->loop, &asked->timer, on_due);
    map_put(&reader->jobs, key, asked);
    return asked;
}

void progress_reader_see(struct progress_reader *reader, const struct kube_object *job,
                         struct kube_object *pod, int port)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", job->namespace_, job->name);
    struct asked *asked = map_get(&reader->jobs, key);
    bool same = asked && pod && str_eq(asked->pod->uid, pod->uid) && asked->port == port;

    if (asked && !same)
        progress_reader_forget(reader, key);
    if (!pod)
        return;
    if (!same) {
        asked = asked_new(reader, key, job);
        asked->port = port;
        asked->interval_ms = INTERVAL_MS;
        loop_timer_start(&asked->timer, FIRST_MS);
    }
    kube_object_ref(pod);
    if (asked->pod)
        kube_object_unref(asked->pod);
    asked->pod = pod;
}

struct progress_reader *progress_reader_new(struct loop *loop, struct kube_client *client,
                                            const struct training_kind *kind,
                                            const struct training_dialer *dialer)
{
    struct progress_reader *reader = mem_zalloc(sizeof(*reader));

    reader->loop = loop;
    reader->client = client;
    reader->kind = kind;
    reader->dialer = *dialer;
    reader->last = &reader->first;
    reader->asked_ms = INT64_MIN / 2;
    map_init(&reader->jobs);
    loop_timer_init(loop, &reader->pace, on_pace);
    return reader;
}

struct progress_reader *progress_reader_free(struct progress_reader *reader)
{
    const char *key;
    void *asked;

    if (!reader)
        return NULL;
    for (size_t i = 0; map_next(&reader->jobs, &i, &key, &asked);) {
        poll_stop(asked);
        asked_free(asked);
    }
    for (struct asked *gone = reader->gone, *next; gone; gone = next) {
        next = gone->next_gone;
        asked_free(gone);
    }
    loop_timer_stop(&reader->pace);
    map_release(&reader->jobs);
    free(reader);
    return NULL;
}
