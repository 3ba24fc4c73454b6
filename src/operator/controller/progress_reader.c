/* Reads the progress of jobs; see progress_reader.h. Each job has a timer, which adds the job to a
 * queue. The requests for the jobs in the queue start one by one at a limited rate, and at most
 * REQUESTS_MAX are in flight. So with many jobs each job is polled less often, and the number of
 * API writes stays limited. */
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
    FIRST_MS = 1000,             /* delay of the first request to a new pod */
    INTERVAL_MS = 5 * 1000,      /* interval for a pod that answers */
    BACK_OFF_MAX_MS = 60 * 1000, /* longest interval for a pod that does not answer */
    PACE_MS = 100,     /* minimum time between the starts of two requests, over all jobs */
    REQUESTS_MAX = 16, /* limit of requests in flight */
    TIMEOUT_MS = 3 * 1000,
};

/* A job whose progress is read. */
struct poll {
    struct progress_reader *reader;
    char *key, *namespace_, *name;
    struct kube_object *pod;
    int port;
    char *text; /* the text last written to the job; NULL: unknown */
    struct loop_timer timer;
    int64_t interval_ms;
    struct poll *next; /* next in the queue */
    bool queued;
    void *dialing;            /* the connection attempt in progress, or NULL */
    struct http_fetch *fetch; /* the request in flight, or NULL */
    bool writing;             /* a write is in flight */
    bool gone;                /* not in reader->jobs any more; freed when the write has ended */
    struct poll *next_gone, *previous_gone; /* neighbours in reader->gone */
};

struct progress_reader {
    struct loop *loop;
    struct kube_client *client;
    const struct training_kind *kind;
    struct training_dialer dialer;
    struct map jobs;            /* struct poll by "namespace/name" */
    struct poll *first, **last; /* the queue; `last` points to the NULL at its end */
    struct poll *gone;          /* forgotten polls whose write is still in flight */
    struct loop_timer pace;     /* starts the next request when PACE_MS have passed */
    int64_t last_request_ms;    /* time of the last request */
    size_t requests;            /* requests in flight */
};

/* ---- one request ----------------------------------------------------------------------------- */

static void serve_queue(struct progress_reader *reader);

/* Must be called when a request has ended. `answered` means that it returned a progress document.
 */
static void poll_end(struct poll *poll, bool answered)
{
    poll->reader->requests--;
    if (answered)
        poll->interval_ms = INTERVAL_MS;
    else if ((poll->interval_ms *= 2) > BACK_OFF_MAX_MS)
        poll->interval_ms = BACK_OFF_MAX_MS;
    loop_timer_start(&poll->timer, poll->interval_ms);
    serve_queue(poll->reader);
}

static void poll_fail(struct poll *poll, const struct err *err)
{
    log_debug(poll->key, "no progress from pod %s, port %d: %s", poll->pod->name, poll->port,
              err->message);
    poll_end(poll, false);
}

static void poll_free(struct poll *poll)
{
    if (poll->pod)
        kube_object_unref(poll->pod);
    free(poll->key);
    free(poll->namespace_);
    free(poll->name);
    free(poll->text);
    free(poll);
}

/* Frees a poll of reader->gone. */
static void poll_free_gone(struct poll *poll)
{
    if (poll->previous_gone)
        poll->previous_gone->next_gone = poll->next_gone;
    else
        poll->reader->gone = poll->next_gone;
    if (poll->next_gone)
        poll->next_gone->previous_gone = poll->previous_gone;
    poll_free(poll);
}

static void on_progress_written(void *context, struct json *object, const struct err *err)
{
    struct poll *poll = context;

    poll->writing = false;
    if (poll->gone) {
        poll_free_gone(poll);
        return;
    }
    if (err) { /* forgets the text, so that the next one is written even if it is equal */
        log_debug(poll->key, "cannot write the progress: %s", err->message);
        free(TAKE(poll->text));
    }
}

/* Writes without a resourceVersion, because the progress does not depend on other fields of the
 * job. */
static void poll_write_annotation(struct poll *poll, struct arena *arena, const char *text)
{
    struct json *patch = json_object(arena);
    struct json *metadata = json_ensure_object(arena, patch, "metadata");

    if (poll->writing || str_eq(poll->text, text))
        return;
    json_set_string(arena, json_ensure_object(arena, metadata, "annotations"),
                    TRAINING_PROGRESS_ANNOTATION, text);
    free(poll->text);
    poll->text = mem_strdup(text);
    poll->writing = true;
    kube_patch(poll->reader->client, poll->reader->kind->resource, poll->namespace_, poll->name,
               NULL, patch, on_progress_written, poll);
}

static void on_fetched(void *context, int status, const char *body, size_t size,
                       const struct err *err)
{
    struct poll *poll = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err problem = ERR_INIT;
    char *text = NULL;

    poll->fetch = NULL;
    if (err) {
        poll_fail(poll, err);
    } else if (status != 200) {
        err_set(&problem, ERR_UNAVAILABLE, "the program answered with HTTP status %d", status);
        poll_fail(poll, &problem);
    } else if (training_progress_text(arena, size ? body : "", size, &text, &problem) < 0) {
        poll_fail(poll, &problem);
    } else {
        poll_write_annotation(poll, arena, text);
        poll_end(poll, true);
    }
}

static void on_poll_connected(void *context, struct stream *stream, const struct err *err)
{
    struct poll *poll = context;
    const struct http_fetch_options options = {
        .host = poll->pod->name,
        .path = "/progress",
        .body_max = TRAINING_PROGRESS_DOCUMENT_MAX,
        .timeout_ms = TIMEOUT_MS,
    };

    poll->dialing = NULL;
    if (stream)
        poll->fetch = http_fetch_start(poll->reader->loop, stream, &options, on_fetched, poll);
    else
        poll_fail(poll, err);
}

static void poll_start(struct poll *poll)
{
    struct progress_reader *reader = poll->reader;

    reader->requests++;
    poll->dialing = reader->dialer.open(reader->dialer.context, poll->pod->json, poll->port,
                                        on_poll_connected, poll);
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void serve_queue(struct progress_reader *reader)
{
    int64_t wait_ms = reader->last_request_ms + PACE_MS - loop_now_ms(reader->loop);
    struct poll *poll = reader->first;

    if (!poll || reader->requests >= REQUESTS_MAX)
        return;
    if (wait_ms > 0) {
        if (!reader->pace.running)
            loop_timer_start(&reader->pace, wait_ms);
        return;
    }
    reader->first = poll->next;
    if (!reader->first)
        reader->last = &reader->first;
    poll->queued = false;
    reader->last_request_ms = loop_now_ms(reader->loop);
    poll_start(poll);
    if (reader->first)
        loop_timer_start(&reader->pace, PACE_MS);
}

static void on_pace(struct loop_timer *timer)
{
    serve_queue(CONTAINER_OF(timer, struct progress_reader, pace));
}

static void on_due(struct loop_timer *timer)
{
    struct poll *poll = CONTAINER_OF(timer, struct poll, timer);
    struct progress_reader *reader = poll->reader;

    poll->queued = true;
    poll->next = NULL;
    *reader->last = poll;
    reader->last = &poll->next;
    serve_queue(reader);
}

static void leave_queue(struct poll *poll)
{
    struct progress_reader *reader = poll->reader;

    if (!poll->queued)
        return;
    for (struct poll **at = &reader->first; *at; at = &(*at)->next) {
        if (*at != poll)
            continue;
        *at = poll->next;
        if (reader->last == &poll->next)
            reader->last = at;
        break;
    }
    poll->queued = false;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Stops polling the job: stops its timer, removes it from the queue, and cancels the request in
 * flight. */
static void poll_stop(struct poll *poll)
{
    bool busy = poll->dialing || poll->fetch;

    loop_timer_stop(&poll->timer);
    leave_queue(poll);
    if (poll->dialing)
        poll->reader->dialer.cancel(TAKE(poll->dialing));
    if (poll->fetch)
        http_fetch_cancel(TAKE(poll->fetch));
    poll->reader->requests -= busy;
}

void progress_reader_forget(struct progress_reader *reader, const char *key)
{
    struct poll *poll = map_remove(&reader->jobs, key);

    if (!poll)
        return;
    poll_stop(poll);
    if (!poll->writing) {
        poll_free(poll);
    } else {
        poll->gone = true;
        poll->next_gone = reader->gone;
        if (poll->next_gone)
            poll->next_gone->previous_gone = poll;
        reader->gone = poll;
    }
    serve_queue(reader);
}

static struct poll *poll_new(struct progress_reader *reader, const char *key,
                             const struct kube_object *job)
{
    const char *text = kube_meta_annotation(job->json, TRAINING_PROGRESS_ANNOTATION);
    struct poll *poll = mem_zalloc(sizeof(*poll));

    poll->reader = reader;
    poll->key = mem_strdup(key);
    poll->namespace_ = mem_strdup(job->namespace_);
    poll->name = mem_strdup(job->name);
    poll->text = text ? mem_strdup(text) : NULL;
    loop_timer_init(reader->loop, &poll->timer, on_due);
    map_put(&reader->jobs, key, poll);
    return poll;
}

void progress_reader_observe(struct progress_reader *reader, const struct kube_object *job,
                             struct kube_object *pod, int port)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", job->namespace_, job->name);
    struct poll *poll = map_get(&reader->jobs, key);
    bool same = poll && pod && str_eq(poll->pod->uid, pod->uid) && poll->port == port;

    if (poll && !same)
        progress_reader_forget(reader, key);
    if (!pod)
        return;
    if (!same) {
        poll = poll_new(reader, key, job);
        poll->port = port;
        poll->interval_ms = INTERVAL_MS;
        loop_timer_start(&poll->timer, FIRST_MS);
    }
    kube_object_ref(pod);
    if (poll->pod)
        kube_object_unref(poll->pod);
    poll->pod = pod;
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
    reader->last_request_ms = INT64_MIN / 2;
    map_init(&reader->jobs);
    loop_timer_init(loop, &reader->pace, on_pace);
    return reader;
}

struct progress_reader *progress_reader_free(struct progress_reader *reader)
{
    const char *key;
    void *poll;

    if (!reader)
        return NULL;
    for (size_t i = 0; map_next(&reader->jobs, &i, &key, &poll);) {
        poll_stop(poll);
        poll_free(poll);
    }
    for (struct poll *gone = reader->gone, *next; gone; gone = next) {
        next = gone->next_gone;
        poll_free(gone);
    }
    loop_timer_stop(&reader->pace);
    map_release(&reader->jobs);
    free(reader);
    return NULL;
}
