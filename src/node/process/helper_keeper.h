/* Keeps a helper of the pod network alive, on the loop thread: finds the running helper or starts
 * one, and starts another when it dies. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H

#include "loop/loop.h"
#include "node/process/helper.h"

#include <stdbool.h>

struct helper_keeper;

/* The strings in the options must outlive the keeper. */
struct helper_keeper *helper_keeper_new(struct loop *loop, const struct helper_kind *kind,
                                        const struct helper_options *options);
/* `changed` is called on the loop thread when the helper has ended and when another has taken its
 * place. If no helper lives now, `changed` is called with false before this function returns. */
void helper_keeper_on_change(struct helper_keeper *keeper,
                             void (*changed)(void *context, bool lives), void *context);
/* Frees the keeper; the helper keeps running. */
struct helper_keeper *helper_keeper_free(struct helper_keeper *keeper);

#endif
