/* Lets people and programs watch a training run: serves its progress on a port (serve/monitor.h),
 * and passes the directory for TensorBoard's event files to the log of the run. `trainer fit` opens
 * it before the process waits for other processes, so that the port shows this wait, too. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_WATCH_H
#define TRAINYARD_CLI_TRAINER_FIT_WATCH_H

#include "base/options/options.h"
#include "train/run/fit_options.h"
#include "train/run/run_log.h"

#include <stddef.h>

struct fit_watch {
    struct run_state *state;
    struct monitor *monitor; /* NULL: no port is open */
    char *events_dir;        /* directory of event files; NULL: none are written */
    const char *model_dir;   /* owned by the caller; may be NULL */
    struct arena *arena;     /* owns the JSON of the options for the report */
};

/* Opens the port and sets `state`, `events_dir` and `settings` of `log`. `all_values` are the
 * option values of `command`. `model_dir` may be NULL. Returns an error if the value of --monitor
 * is invalid. If the port cannot be opened, only prints a message. The caller closes *ret with
 * fit_watch_close(). */
int fit_watch_open(const struct fit_watch_values *values, const struct command *command,
                   const void *all_values, const char *model_dir, struct run_log_options *log,
                   struct fit_watch *ret, struct err *err);
/* Called after a complete run. In a pod, writes the state of the run and the path of its report as
 * the termination message of the container: the operator polls the port only every few seconds, and
 * would miss the end. Elsewhere does nothing. */
void fit_watch_finish(struct fit_watch *watch);
void fit_watch_close(struct fit_watch *watch); /* safe on zeroed memory */

/* The callback `waiting` of struct comm_options and struct ps_options, and the callback `waited` of
 * struct comm_options. `state` is the struct run_state. */
void fit_watch_wait(void *state, const char *peers);
void fit_watch_waited(void *state, const char *task, int64_t ns);

#endif
