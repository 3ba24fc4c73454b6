/* The parts of `trainer fit` that concern the processes of a run, for all models: the description
 * of the cluster, the options of the group, the signals that stop the training, and messages on
 * standard error. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H
#define TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H

#include "comm/cluster/tf_config.h"
#include "comm/group/group.h"
#include "train/run/fit_options.h"

#include <signal.h>
#include <stddef.h>

/* Returns the options of a synchronous group, from the command line and `config`. `shape` is
 * comm_options.shape. */
struct comm_options fit_cluster_comm(const struct fit_cluster_values *values,
                                     const struct ty_tf_config *config, uint64_t shape);

/* Checks that a batch has at least one sample per worker of `config`. Workers that join later
 * count, too, because a new worker must not end a running training. Returns -ERR_USAGE if the batch
 * is too small. */
int fit_cluster_check_batch(const struct ty_tf_config *config, size_t batch, struct err *err);

/* Reads the cluster from the four classic flags of TensorFlow (--ps-hosts, --worker-hosts,
 * --job-name, --task-index) if one of them is given, otherwise from the environment. Checks that
 * the cluster has at least --min-workers workers, and no parameter servers if --encrypt is given.
 * The caller frees *ret with ty_tf_config_free(). */
int fit_cluster_read(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                     struct err *err);

/* The number of the signal that requested a stop (SIGTERM, SIGINT, SIGHUP); 0: no signal yet. */
extern volatile sig_atomic_t fit_stop_signal;
/* Nonzero while a signal ends the process at once, because there is nothing to save: before the
 * first step, while the process reads data or waits for other processes. */
extern volatile sig_atomic_t fit_joining;

/* Installs the signal handlers. `trainer fit` calls it before any other function of this file. */
void fit_install_signals(void);

/* Prints a message on standard error, as a line "trainer: …". Has the type of the `report`
 * callbacks of src/comm. Ignores `context`. */
void fit_print_line(void *context, const char *line);

/* Returns the exit code of a stopped training: 128 plus the number of the signal, or of SIGTERM if
 * another worker was stopped. It is not 0, so that the Job restarts the pod instead of counting it
 * as a success. */
int fit_stopped_exit_code(void);

#endif
