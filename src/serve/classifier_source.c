/* Implements the loading of versions of a classifier and the queue of predictions; see
 * classifier_source.h. */
#include "serve/classifier_source.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/run/model_versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loaded version. Only the loop thread accesses the struct, but a running prediction uses `model`
 * on a pool thread. */
struct served_classifier {
    struct classifier_model *model;
    int64_t version;
    /* Number of references: from the source, and from each request that waits or is in progress. */
    int users;
};

/* A poll of the directory on the pool, which loads a new version if there is one. */
struct version_poll {
    struct loop_work work;
    /* The loaded version. NULL: there is no new version, or it could not be loaded. */
    struct classifier_model *model;
    int64_t known;   /* the highest version that need not be loaded */
    int64_t version; /* the version that was loaded or could not be loaded; 0: none */
    struct err err;
};

struct classifier_source {
    struct loop *loop;
    char *directory;
    classifier_source_changed *changed;
    void *context;
    struct served_classifier *served; /* NULL: no version yet */
    struct loop_timer timer;
    struct version_poll poll;
    int64_t refused; /* the highest version that could not be loaded; it is not tried again */
    /* Why the last poll could not read the directory; "" if it could. */
    char complaint[ERR_MESSAGE_MAX];
    bool stopped;
    struct classifier_question *first, *last; /* queue of requests; the first is in progress */
    size_t waiting;
};

static void release_served(struct served_classifier *served)
{
    if (served && --served->users == 0) {
        classifier_model_free(served->model);
        free(served);
    }
}

static void serve_version(struct classifier_source *source, struct classifier_model *model,
                          int64_t version)
{
    struct served_classifier *served = mem_zalloc(sizeof(*served));
    *served = (struct served_classifier){.model = model, .version = version, .users = 1};
    release_served(source->served);
    source->served = served;
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Loads the newest version between `known` and `below`, both excluded. If there is none, returns 0
 * and does not change *ret_model. If it cannot be loaded, *ret_version is set all the same. */
static int load_newer(const char *directory, int64_t known, int64_t below,
                      struct classifier_model **ret_model, int64_t *ret_version, struct err *err)
{
    char path[MODEL_VERSIONS_PATH_MAX];
    int64_t version = 0;
    int result =
        model_versions_newest(directory, CLASSIFIER_MODEL_FILE, below, &version, path, err);
    if (result == -ERR_NOT_FOUND) {
        err_clear(err);
        return 0;
    }
    if (result < 0 || version <= known)
        return result;
    *ret_version = version;
    return classifier_model_load(path, ret_model, err);
}

static void poll_versions(struct loop_work *work)
{
    struct classifier_source *source = CONTAINER_OF(work, struct classifier_source, poll.work);
    struct version_poll *poll = &source->poll;
    load_newer(source->directory, poll->known, INT64_MAX, &poll->model, &poll->version, &poll->err);
}

/* Reports the version that was loaded or could not be loaded, or that the directory cannot be read.
 * The latter is not reported again until the message changes. */
static void report_poll(struct classifier_source *source, const struct version_poll *poll)
{
    const char *complaint = poll->err.code && !poll->version ? poll->err.message : "";
    bool is_new = poll->version || (complaint[0] && !str_eq(complaint, source->complaint));
    snprintf(source->complaint, sizeof(source->complaint), "%s", complaint);
    if (is_new && source->changed)
        source->changed(source->context, poll->version, poll->err.code ? &poll->err : NULL);
}

static void on_versions_polled(struct loop_work *work)
{
    struct classifier_source *source = CONTAINER_OF(work, struct classifier_source, poll.work);
    struct version_poll *poll = &source->poll;
    if (poll->model)
        serve_version(source, TAKE(poll->model), poll->version);
    else if (poll->version)
        source->refused = poll->version;
    report_poll(source, poll);
    if (!source->stopped)
        loop_timer_start(&source->timer, CLASSIFIER_SOURCE_POLL_MS);
}

static void on_source_timer(struct loop_timer *timer)
{
    struct classifier_source *source = CONTAINER_OF(timer, struct classifier_source, timer);
    int64_t served = classifier_source_version(source);
    source->poll = (struct version_poll){
        .work = {.work = poll_versions, .done = on_versions_polled},
        .known = source->refused > served ? source->refused : served,
    };
    loop_work_start(source->loop, &source->poll.work);
}

/* Loads the newest version that is not damaged, so that a damaged version does not prevent serving
 * an older version. Reports each damaged version, which is not tried again. */
static int load_first(struct classifier_source *source, struct err *err)
{
    struct err first = ERR_INIT;
    for (int64_t below = INT64_MAX;;) {
        struct classifier_model *model = NULL;
        struct err why = ERR_INIT;
        int64_t version = 0;
        int result = load_newer(source->directory, 0, below, &model, &version, &why);
        if (model)
            serve_version(source, model, version);
        if (model || (result == 0 && !first.code))
            return 0;
        if (!first.code)
            first = why;
        if (version == 0) { /* there is no older version */
            *err = first;
            return err_wrap(err, "'%s'", source->directory);
        }
        if (!source->refused)
            source->refused = version;
        if (source->changed)
            source->changed(source->context, version, &why);
        below = version;
    }
}

int classifier_source_new(struct loop *loop, const char *directory,
                          classifier_source_changed *changed, void *context,
                          struct classifier_source **ret, struct err *err)
{
    struct classifier_source *source = mem_zalloc(sizeof(*source));
    source->loop = loop;
    source->directory = mem_strdup(directory);
    source->changed = changed;
    source->context = context;
    int result = load_first(source, err);
    if (result < 0) {
        free(source->directory);
        free(source);
        return result;
    }
    loop_timer_init(loop, &source->timer, on_source_timer);
    loop_timer_start(&source->timer, CLASSIFIER_SOURCE_POLL_MS);
    *ret = source;
    return 0;
}

void classifier_source_stop(struct classifier_source *source)
{
    source->stopped = true;
    loop_timer_stop(&source->timer);
}

struct classifier_source *classifier_source_free(struct classifier_source *source)
{
    if (source) {
        loop_timer_stop(&source->timer);
        release_served(source->served);
        free(source->directory);
        free(source);
    }
    return NULL;
}

int64_t classifier_source_version(const struct classifier_source *source)
{
    return source->served ? source->served->version : 0;
}

const char *classifier_source_directory(const struct classifier_source *source)
{
    return source->directory;
}

double classifier_source_accuracy(const struct classifier_source *source)
{
    return source->served ? classifier_model_accuracy(source->served->model) : -1;
}

const struct classifier_config *classifier_source_config(const struct classifier_source *source)
{
    return source->served ? classifier_model_config(source->served->model) : NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void predict_question(struct loop_work *work)
{
    struct classifier_question *question = CONTAINER_OF(work, struct classifier_question, work);
    classifier_model_predict(question->served->model, question->pixels, question->count,
                             question->probabilities, &question->err);
}

static void start_first(struct classifier_source *source)
{
    struct classifier_question *question = source->first;
    loop_work_start(source->loop, &question->work);
}

static void on_question_done(struct loop_work *work)
{
    struct classifier_question *question = CONTAINER_OF(work, struct classifier_question, work);
    struct classifier_source *source = question->source;
    struct served_classifier *served = question->served;
    struct err err = question->err;
    source->first = question->next;
    source->waiting--;
    if (source->first)
        start_first(source);
    else
        source->last = NULL;
    question->done(question, served->version, err.code ? &err : NULL); /* may free the question */
    release_served(served);
}

int classifier_source_ask(struct classifier_source *source, struct classifier_question *question,
                          struct err *err)
{
    if (!source->served)
        return err_set(
            err, ERR_UNAVAILABLE,
            "there is no model yet in '%s': the first is served as soon as it is exported",
            source->directory);
    if (source->waiting >= CLASSIFIER_SOURCE_WAITING_MAX)
        return err_set(err, ERR_UNAVAILABLE,
                       "%d requests are waiting already: try again in a moment",
                       CLASSIFIER_SOURCE_WAITING_MAX);
    question->source = source;
    question->work = (struct loop_work){.work = predict_question, .done = on_question_done};
    question->next = NULL;
    question->err = (struct err)ERR_INIT;
    question->served = source->served;
    source->served->users++;
    source->waiting++;
    if (source->last) {
        source->last->next = question;
        source->last = question;
    } else {
        source->first = source->last = question;
        start_first(source);
    }
    return 0;
}
