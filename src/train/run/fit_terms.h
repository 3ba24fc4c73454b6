/* The terms of a run: the options that must be equal on all workers, and the options that must not
 * change when a run is resumed. `trainer fit` collects them from the option table after it has
 * opened the data. Workers compare a hash of them when the group forms, and checkpoints store the
 * options that must not change. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_TERMS_H
#define TRAINYARD_TRAIN_RUN_FIT_TERMS_H

#include "base/options/options.h"

struct fit_terms {
    struct arena *arena; /* memory of both objects */
    struct json *agreed; /* options that must be equal on all workers, by name */
    struct json *kept;   /* options that must not change on resume, by name */
};

/* Collects the options of `command` by their marks in the option table (fit_options.h). `values` is
 * the struct with the values of the options. The caller releases the terms. */
void fit_terms_init(struct fit_terms *terms, const struct command *command, const void *values);
void fit_terms_release(struct fit_terms *terms); /* safe on zeroed memory */

/* Sets the value of an option to `meaning` in both objects. For example, a description of the data
 * with a digest replaces their path. An object that does not have the option gets it: it must then
 * be equal on all workers, and must not change on resume. */
void fit_terms_set(struct fit_terms *terms, const char *name, const char *meaning);
/* Removes an option, which has no effect in this run, from both objects. */
void fit_terms_drop(struct fit_terms *terms, const char *name);

/* Returns the options that must be equal on all workers, as lines "--name value". The terms own the
 * text. */
const char *fit_terms_text(const struct fit_terms *terms);

/* Returns a hash of fit_terms_text() and of `model`, which is the result of model_hash()
 * (model.h). */
uint64_t fit_terms_hash(const struct fit_terms *terms, uint64_t model);

#endif
