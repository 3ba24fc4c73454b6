/* The cluster of `trainer fit`, whatever the model: which processes train together, the signals
 * that stop the training, and messages on standard error. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H
#define TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H

#include "comm/cluster/tf_config.h"
#include "comm/group/group.h"
#include "train/run/fit_options.h"

#include <signal.h>
#include <stddef.h>

/* The options of a synchronous group, from the command line and `config`. */
struct comm_options fit_cluster_comm(const struct fit_cluster_values *values,
                                     const struct ty_tf_config *config, uint64_t shape);

/* Checks that every worker of `config` gets a sample of a batch, including workers that join later:
 * a new worker must not end a running training. */
int fit_cluster_check_batch(const struct ty_tf_config *config, size_t batch, struct err *err);

/* Reads the cluster from the classic flags if they are given, else from the environment. Checks
 * that it has at least --min-workers workers. The caller frees it. */
int fit_cluster_read(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                     struct err *err);

/* The number of the signal that asked to stop (SIGTERM, SIGINT, SIGHUP); 0: none. */
extern volatile sig_atomic_t fit_stop_asked;
/* Not 0 while data is read or workers are awaited before the first step. There is nothing to save
 * then, so a signal ends the process at once. */
extern volatile sig_atomic_t fit_joining;

/* Installs the signal handlers. Must be called first. */
void fit_install_signals(void);

/* prints a message of comm on standard error */
void fit_print_line(void *context, const char *line);

/* The exit code of a stopped training: as if the signal had ended the process, or SIGTERM if
 * another worker was stopped. It is not 0, so that a job restarts the pod instead of counting it as
 * a success. */
int fit_stopped_exit_code(void);

#endif
