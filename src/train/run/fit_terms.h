/* The options that a run is bound to: those that all workers of a group must have in common, and
 * those that must not change when a run is resumed. Made from the option table once the data is
 * open. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_TERMS_H
#define TRAINYARD_TRAIN_RUN_FIT_TERMS_H

#include "base/options/options.h"

struct fit_terms {
    struct arena *arena;
    struct json *agreed; /* options that all workers must have in common, by name */
    struct json *kept;   /* options that must not change on resume, by name */
};

/* Takes both lists from the values of the options, by the marks of the rows (fit_options.h). */
void fit_terms_init(struct fit_terms *terms, const struct command *command, const void *values);
void fit_terms_release(struct fit_terms *terms); /* safe on zeroed memory */

/* Replaces the value of an option by what it means: the data itself instead of its path. */
void fit_terms_set(struct fit_terms *terms, const char *name, const char *meaning);
/* removes an option without meaning in this run */
void fit_terms_drop(struct fit_terms *terms, const char *name);

/* The options that all workers must have in common, as lines "--name value". Lives as long as the
 * terms. */
const char *fit_terms_text(const struct fit_terms *terms);

/* One number for these lines and for `model`, the hash of the numbers that the model compares. */
uint64_t fit_terms_hash(const struct fit_terms *terms, uint64_t model);

#endif
