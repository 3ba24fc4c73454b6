/* Finds, starts and ends the helpers of the pod network, and sends them new tables. A helper is a
 * process of trainyard-step that outlives the control process and is found by its lock file. The
 * files of helpers are in <state>/run. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_H

#include "base/buf.h"
#include "base/err.h"

struct helper_kind {
    const char *mode;         /* the mode of trainyard-step */
    const char *lock, *table; /* file names in <state>/run; if `table` is NULL, the helper is
                                 started without the arguments HOLDER and TABLE (step/step.h) */
    const char *what;         /* names the helper in messages */
};

extern const struct helper_kind HELPER_HOLDER; /* holds the pod network (step/helper/hold.c) */
extern const struct helper_kind HELPER_PROXY; /* proxies connections to the addresses of services */
extern const struct helper_kind HELPER_NAMES; /* answers DNS queries */
extern const struct helper_kind HELPER_EGRESS; /* runs the egress program (network/egress.h) */

struct helper_options {
    const char *state_dir;
    const char *step_path;
    const char *holder;   /* the lock file of the pod network's holder */
    const char *argument; /* the helper's last argument, or NULL */
};

/* Finds the living helper, as a pidfd. Returns -ERR_NOT_FOUND if there is none. */
int helper_process_find(const struct helper_kind *kind, const char *state_dir, int *ret_pidfd,
                        struct err *err);

int helper_process_start(const struct helper_kind *kind, const struct helper_options *options,
                         struct err *err);

/* Writes the helper's table, and sends SIGHUP to the helper if it lives. */
int helper_process_set_table(const struct helper_kind *kind, const char *state_dir,
                             const struct buf *text, struct err *err);

/* Kills the helper and waits for its end. Returns 0 if there is no helper. */
int helper_process_end(const struct helper_kind *kind, const char *state_dir, struct err *err);

#endif
