/* What `trainer fit` of every model shares: how it learns who trains together, how it is told to
 * stop, how it speaks, and what it does on the command line's behalf. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H
#define TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H

#include "comm/cluster/tf_config.h"
#include "comm/group/group.h"
#include "train/run/fit_options.h"

#include <signal.h>
#include <stddef.h>

/* What the options say about a group that trains in step, for `config`. */
struct comm_options fit_cluster_comm(const struct fit_cluster_values *values,
                                     const struct ty_tf_config *config, uint64_t shape);

/* All workers of `config` find a picture in a batch, also those that come late: a newcomer must not
 * end a run that goes on. */
int fit_cluster_check_batch(const struct ty_tf_config *config, size_t batch, struct err *err);

/* From the classic flags if they are given, else from the environment. --min-workers are some of
 * them. */
int fit_cluster_read(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                     struct err *err);

/* Set by SIGTERM, SIGINT and SIGHUP to their number; while `fit_joining`, when data are read or
 * others waited for before the first step and there is nothing to save, they end the process
 * instead. */
extern volatile sig_atomic_t fit_stop_asked, fit_joining;

/* Handlers of signals, and threads as training wants them. First of all. */
void fit_install_signals(void);

void fit_print_line(void *context, const char *line); /* a report of comm, on standard error */

/* Training that was stopped is not done: a job must not count its pod as a success, but run it
 * again. The code is that of a program which the signal ended; SIGTERM, if another worker got it.
 */
int fit_stopped_exit_code(void);

#endif
