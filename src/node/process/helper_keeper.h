/* Keeps a helper of the pod network alive from the loop: finds the one that lives, starts one where
 * there is none, and another when it dies. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H

#include "loop/loop.h"
#include "node/process/helper.h"

#include <stdbool.h>

struct helper_keeper;

/* What the options name must outlive it. */
struct helper_keeper *helper_keeper_new(struct loop *loop, const struct helper_kind *kind,
                                        const struct helper_options *options);
/* Be told when the helper has ended, and when another has taken its place; at once if there is none
 * now. `changed` is called from the loop, but for that. */
void helper_keeper_on_change(struct helper_keeper *keeper,
                             void (*changed)(void *context, bool lives), void *context);
/* Leaves the helper running. */
struct helper_keeper *helper_keeper_free(struct helper_keeper *keeper);

#endif
