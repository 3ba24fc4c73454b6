/* The helpers of the pod network, modes of trainyard-step that outlive the control process, as
 * others see them: found by their lock, started, told of a new table, ended. Their files lie in
 * <state>/run. */
#ifndef TRAINYARD_NODE_PROCESS_HELPER_H
#define TRAINYARD_NODE_PROCESS_HELPER_H

#include "base/buf.h"
#include "base/err.h"

struct helper_kind {
    const char *mode;         /* of trainyard-step */
    const char *lock, *table; /* names of its files; no table: it needs none, nor a holder */
    const char *what;         /* for people */
};

extern const struct helper_kind HELPER_HOLDER; /* keeps the pod network (step/hold.c) */
extern const struct helper_kind HELPER_PROXY;  /* answers at the addresses of services */
extern const struct helper_kind HELPER_NAMES;  /* answers names */
extern const struct helper_kind
    HELPER_EGRESS; /* runs the program that leads out (network/egress.h) */

struct helper_options {
    const char *state_dir;
    const char *step_path;
    const char *holder;   /* lock of the pod network's holder */
    const char *argument; /* one more, or NULL */
};

/* The one that lives, as a pidfd; ERR_NOT_FOUND. */
int helper_process_find(const struct helper_kind *kind, const char *state_dir, int *ret_pidfd,
                        struct err *err);

int helper_process_start(const struct helper_kind *kind, const struct helper_options *options,
                         struct err *err);

/* Write its table, and tell it if it lives. */
int helper_process_set_table(const struct helper_kind *kind, const char *state_dir,
                             const struct buf *text, struct err *err);

/* End it and wait for that; none is fine. */
int helper_process_end(const struct helper_kind *kind, const char *state_dir, struct err *err);

#endif
