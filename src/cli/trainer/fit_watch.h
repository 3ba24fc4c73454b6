/* Shows the progress of a run on a port (serve/monitor) while it is running, and writes files for
 * TensorBoard. Opened before the process waits for other tasks, so that the port shows this wait
 * too. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_WATCH_H
#define TRAINYARD_CLI_TRAINER_FIT_WATCH_H

#include "base/options/options.h"
#include "train/run/fit_options.h"
#include "train/run/run_log.h"

#include <stddef.h>

struct fit_watch {
    struct run_state *state;
    struct monitor *monitor; /* NULL: no port is open */
    char *events_dir;        /* NULL: no files for TensorBoard */
    const char *model_dir;   /* owned by the caller; may be NULL */
    struct arena *arena;     /* owns the memory of the options for the report */
};

/* Also sets `state`, `events_dir` and `settings` of `log`. `model_dir` may be NULL. `all` has the
 * option values of the whole command. If the port cannot be opened, only prints a message. The
 * caller closes *ret with fit_watch_close(). */
int fit_watch_open(const struct fit_watch_values *values, const struct command *command,
                   const void *all, const char *model_dir, struct run_log_options *log,
                   struct fit_watch *ret, struct err *err);
/* Called after a complete run. In a pod, writes the last progress and the path of the report as the
 * termination message of the container: the operator polls only every few seconds and would miss
 * both. */
void fit_watch_finish(struct fit_watch *watch);
void fit_watch_close(struct fit_watch *watch); /* safe on zeroed memory */

/* Callbacks for src/comm: `waiting` and `waited` of struct comm_options. Their context is the
 * run_state. */
void fit_watch_wait(void *state, const char *peers);
void fit_watch_waited(void *state, const char *task, int64_t ns);

#endif
