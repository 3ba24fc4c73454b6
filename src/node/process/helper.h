/* Finds, starts and ends the helpers of the pod network, and gives them new tables. A helper is a
 * process of trainyard-step that serves the whole cluster. It outlives the control process, which
 * finds it again by its lock file. The files of helpers are in <state>/run. helper_keeper.h keeps
 * helpers running. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_H

#include "base/buf.h"
#include "base/err.h"

struct helper_kind {
    const char *mode; /* the mode of trainyard-step */
    const char *lock; /* the name of the lock file in <state>/run */
    /* The name of the file in <state>/run that is the helper's argument TABLE or MOUNT-POINT
     * (step/step.h). If it is NULL, the helper is started without this argument and without
     * HOLDER. */
    const char *table;
    const char *what; /* describes the helper in messages */
};

extern const struct helper_kind HELPER_HOLDER; /* holds the pod network (step/helper/hold.c) */
extern const struct helper_kind HELPER_PROXY;  /* proxies connections to services */
extern const struct helper_kind HELPER_NAMES;  /* answers DNS queries */
extern const struct helper_kind HELPER_EGRESS; /* runs the egress program (network/egress.h) */

struct helper_options {
    const char *state_dir;
    const char *step_path;
    const char *holder;   /* the lock file of the process that holds the pod network */
    const char *argument; /* the helper's last argument, or NULL */
};

/* Finds the running helper and sets `*ret_pidfd` to a pidfd of it, which the caller closes. Returns
 * 0, -ERR_NOT_FOUND if none runs, or another negative code. */
int helper_process_find(const struct helper_kind *kind, const char *state_dir, int *ret_pidfd,
                        struct err *err);

/* Starts the helper and blocks until it is ready (process/start.h): usually for a few milliseconds,
 * but for up to 10 s if the egress program creates its link slowly (step/helper/egress.c). */
int helper_process_start(const struct helper_kind *kind, const struct helper_options *options,
                         struct err *err);

/* Replaces the helper's table, and sends SIGHUP to the helper if it runs. Returns a negative code
 * also if the table was replaced but it is not known whether the helper runs. kind->table must not
 * be NULL. */
int helper_process_set_table(const struct helper_kind *kind, const char *state_dir,
                             const struct buf *text, struct err *err);

/* Kills the helper and waits for its end, for up to PROCESS_DEATH_MS (process/lock.h). Returns 0
 * also if no helper runs. */
int helper_process_end(const struct helper_kind *kind, const char *state_dir, struct err *err);

#endif
