/* What of a run others may see: while it goes on, at a port (serve/monitor), and afterwards, in
 * files for TensorBoard. Made before anybody is waited for, so that the waiting is seen, too. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_WATCH_H
#define TRAINYARD_CLI_TRAINER_FIT_WATCH_H

#include "base/options/options.h"
#include "train/run/fit_options.h"
#include "train/run/run_log.h"

#include <stddef.h>

struct fit_watch {
    struct run_state *state;
    struct monitor *monitor; /* NULL: nobody can ask */
    char *events_dir;        /* NULL: nothing is written */
    const char *model_dir;   /* the caller's; or NULL */
    struct arena *arena;     /* of the options, as the report tells them */
};

/* Fills in `log`, too; model_dir may be NULL. `all` are the values of the whole command. A port
 * that is in use is said, and nothing else. */
int fit_watch_open(const struct fit_watch_values *values, const struct command *command,
                   const void *all, const char *model_dir, struct run_log_options *log,
                   struct fit_watch *ret, struct err *err);
/* The run has ended well. In a pod, leave the last progress and the place of the report as the
 * container's termination message, where the operator reads it: it asks only every few seconds. */
void fit_watch_finish(struct fit_watch *watch);
void fit_watch_close(struct fit_watch *watch); /* safe on zeroed memory */

/* For comm, whose context is the state: who is missing, and who came late and how much. */
void fit_watch_wait(void *state, const char *whom);
void fit_watch_waited(void *state, const char *task, int64_t ns);

#endif
