/* The classifier that is served now: the newest version of an export directory, looked for every
 * second and taken over without a pause. A question that is being answered is finished by the
 * version it began with. Loading and computing run on the loop's pool; questions are answered one
 * after another, since a model has one owner at a time. */
#ifndef TRAINYARD_SERVE_CLASSIFIER_SOURCE_H
#define TRAINYARD_SERVE_CLASSIFIER_SOURCE_H

#include "loop/loop.h"
#include "models/classifier/model.h"

#include <stdint.h>

enum { CLASSIFIER_SOURCE_WAITING_MAX = 256, CLASSIFIER_SOURCE_POLL_MS = 1000 };

struct classifier_source;

/* Where there is a version already it is loaded before this returns: the newest that is not
 * damaged, and it is an error where all are. None is no error: it is waited for. `changed` (may be
 * NULL) says that another version is served, or why the newest is not. */
typedef void classifier_source_changed(void *context, int64_t version, const struct err *err);
int classifier_source_new(struct loop *loop, const char *directory,
                          classifier_source_changed *changed, void *context,
                          struct classifier_source **ret, struct err *err);
/* No more looking for versions; the loop then comes to rest. */
void classifier_source_stop(struct classifier_source *source);
/* Nothing may be under way. */
struct classifier_source *classifier_source_free(struct classifier_source *source);

int64_t classifier_source_version(const struct classifier_source *source); /* 0: none yet */
const char *classifier_source_directory(const struct classifier_source *source);
/* Part of the test pictures the served version is right about; -1: not known. */
double classifier_source_accuracy(const struct classifier_source *source);
/* NULL: none yet. */
const struct classifier_config *classifier_source_config(const struct classifier_source *source);

/* A question: `count` pictures, as classifier_model_predict() takes them. It lives in its owner's
 * memory until `done`, which is called from the loop. */
struct classifier_question {
    const float *pixels;
    size_t count;
    float *probabilities; /* count × classes; room is the owner's */
    void (*done)(struct classifier_question *question, int64_t version, const struct err *err);
    /* Private. */
    struct classifier_source *source;
    struct loop_work work;
    struct classifier_question *next;
    struct served_classifier *served;
    struct err err;
};
/* ERR_UNAVAILABLE where there is no model yet, or too many wait: then `done` is not called. */
int classifier_source_ask(struct classifier_source *source, struct classifier_question *question,
                          struct err *err);

#endif
