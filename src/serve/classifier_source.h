/* Provides the classifier that is served: the newest version in an export directory. Reads the
 * directory again every CLASSIFIER_SOURCE_POLL_MS milliseconds, and replaces the served version by
 * a newer one without a pause. A request continues with the version that was served when it
 * arrived. Later versions are loaded on the loop's pool, and predictions are computed there, one at
 * a time, because only one thread may use a model. `trainer serve` creates the source, and the page
 * of the classifier sends it requests. All functions must be called on the loop thread. */
#ifndef TRAINYARD_SERVE_CLASSIFIER_SOURCE_H
#define TRAINYARD_SERVE_CLASSIFIER_SOURCE_H

#include "loop/loop.h"
#include "models/classifier/model.h"

#include <stdint.h>

enum {
    CLASSIFIER_SOURCE_WAITING_MAX = 256, /* requests, including the request in progress */
    CLASSIFIER_SOURCE_POLL_MS = 1000,    /* from the end of a poll to the next poll */
};

struct classifier_source;

/* Creates a source. Before it returns, it loads the newest version that is not damaged, on the
 * calling thread. Fails if the directory exists but cannot be read, or if versions exist and all of
 * them are damaged. If the directory or a version does not exist yet, the source waits for the
 * first version. The caller frees *ret.
 *
 * `changed` may be NULL. It is called with `err` NULL for each version that is loaded after
 * classifier_source_new() has returned. It is called with `err` set for each version that cannot be
 * loaded, also during classifier_source_new(), and with version 0 if the directory cannot be read
 * any more. The same error of the directory is reported again only after a poll without it. */
typedef void classifier_source_changed(void *context, int64_t version, const struct err *err);
int classifier_source_new(struct loop *loop, const char *directory,
                          classifier_source_changed *changed, void *context,
                          struct classifier_source **ret, struct err *err);
/* Prevents further polls, so that the loop can end. A poll in progress continues on the pool. */
void classifier_source_stop(struct classifier_source *source);
/* No request and no poll may be in progress: call classifier_source_stop(), then run the loop until
 * it ends. NULL-safe; returns NULL. */
struct classifier_source *classifier_source_free(struct classifier_source *source);

/* Returns the served version, or 0 if there is none yet. */
int64_t classifier_source_version(const struct classifier_source *source);
const char *classifier_source_directory(const struct classifier_source *source);
/* Returns the accuracy of the served version on the test pictures, or -1 if it is not known. */
double classifier_source_accuracy(const struct classifier_source *source);
/* Returns the configuration of the served version, or NULL if there is none yet. The pointer is
 * valid until the loop runs again. */
const struct classifier_config *classifier_source_config(const struct classifier_source *source);

/* A request to predict `count` pictures, in the format of classifier_model_predict(). The caller
 * owns the struct and its buffers, which must stay valid until `done` is called on the loop thread.
 * `done` may free the struct. Its `err` is NULL if the probabilities are set. */
struct classifier_question {
    const float *pixels;
    size_t count;
    float *probabilities; /* output: count × classes floats */
    void (*done)(struct classifier_question *question, int64_t version, const struct err *err);
    /* Private to classifier_source.c. */
    struct classifier_source *source;
    struct loop_work work;
    struct classifier_question *next;
    struct served_classifier *served;
    struct err err;
};
/* Queues the request and returns 0 at once. Returns -ERR_UNAVAILABLE if no version is served yet or
 * too many requests wait; then `done` is not called. */
int classifier_source_ask(struct classifier_source *source, struct classifier_question *question,
                          struct err *err);

#endif
