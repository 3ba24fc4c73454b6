/* Keeps a helper of the pod network running (process/helper.h): finds the running helper or starts
 * one, and starts another when it ends. The control process has at most one keeper per kind of
 * helper, on the loop thread. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_KEEPER_H

#include "loop/loop.h"
#include "node/process/helper.h"

#include <stdbool.h>

struct helper_keeper;

/* Finds or starts the helper before it returns. If the helper cannot be started, logs a warning and
 * tries again later. The strings in the options must outlive the keeper. */
struct helper_keeper *helper_keeper_new(struct loop *loop, const struct helper_kind *kind,
                                        const struct helper_options *options);
/* From now on, calls `changed` on the loop thread when the helper has ended (with false) and when
 * another helper runs (with true). If no helper runs now, also calls it with false before this
 * function returns. */
void helper_keeper_on_change(struct helper_keeper *keeper,
                             void (*changed)(void *context, bool is_running), void *context);
/* Frees the keeper; the helper keeps running. */
struct helper_keeper *helper_keeper_free(struct helper_keeper *keeper);

#endif
