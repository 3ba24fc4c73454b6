/* What a run is held to: the options that workers who train together must have alike, and those
 * that a run which goes on must have as it began. Made from the option table once the data are
 * known. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_TERMS_H
#define TRAINYARD_TRAIN_RUN_FIT_TERMS_H

#include "base/options/options.h"

struct fit_terms {
    struct arena *arena;
    struct json *agreed, *kept; /* by names of options */
};

void fit_terms_init(struct fit_terms *terms, const struct command *command, const void *values);
void fit_terms_release(struct fit_terms *terms); /* safe on zeroed memory */

/* An option that means something else than what was typed: its meaning. */
void fit_terms_set(struct fit_terms *terms, const char *name, const char *meaning);
void fit_terms_drop(struct fit_terms *terms, const char *name); /* it does not count here */

/* What is agreed on, as lines "--name value"; lives as long as the terms. */
const char *fit_terms_text(const struct fit_terms *terms);

/* One number for it, and for what else the model holds its workers to. */
uint64_t fit_terms_hash(const struct fit_terms *terms, uint64_t model);

#endif
