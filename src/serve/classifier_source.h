/* Provides the classifier that is served: the newest version in an export directory. Polls the
 * directory every second, and replaces the old version with a new version without a pause. A
 * request in progress continues with the version with which it started. Loading and predictions run
 * on the loop's pool. Only one prediction runs at a time, because a model may be used by only one
 * thread. */
#ifndef TRAINYARD_SERVE_CLASSIFIER_SOURCE_H
#define TRAINYARD_SERVE_CLASSIFIER_SOURCE_H

#include "loop/loop.h"
#include "models/classifier/model.h"

#include <stdint.h>

enum { CLASSIFIER_SOURCE_WAITING_MAX = 256, CLASSIFIER_SOURCE_POLL_MS = 1000 };

struct classifier_source;

/* Loads the newest version that is not damaged, before it returns. Fails if versions exist and all
 * of them are damaged. If no version exists yet, the source waits for the first. `changed` may be
 * NULL. It is called when another version is served, or with `err` if the newest version could not
 * be loaded. The caller frees *ret. */
typedef void classifier_source_changed(void *context, int64_t version, const struct err *err);
int classifier_source_new(struct loop *loop, const char *directory,
                          classifier_source_changed *changed, void *context,
                          struct classifier_source **ret, struct err *err);
/* Stops polling, so that the loop can end. */
void classifier_source_stop(struct classifier_source *source);
/* No request may be in progress. */
struct classifier_source *classifier_source_free(struct classifier_source *source);

int64_t classifier_source_version(const struct classifier_source *source); /* 0: no version yet */
const char *classifier_source_directory(const struct classifier_source *source);
/* Returns the accuracy of the served version on the test pictures, or -1 if it is not known. */
double classifier_source_accuracy(const struct classifier_source *source);
/* Returns NULL if no version is served yet. */
const struct classifier_config *classifier_source_config(const struct classifier_source *source);

/* A request to predict `count` pictures, in the format of classifier_model_predict(). The caller
 * owns the struct and its buffers, which must stay valid until `done` is called on the loop
 * thread. */
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
/* Returns -ERR_UNAVAILABLE if no version is served yet or too many requests wait; then `done` is
 * not called. */
int classifier_source_ask(struct classifier_source *source, struct classifier_question *question,
                          struct err *err);

#endif
