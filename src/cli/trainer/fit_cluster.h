/* What `trainer fit` of every model shares: how it learns who trains together, how it is told to
 * stop, how it speaks, and what it does on the command line's behalf. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H
#define TRAINYARD_CLI_TRAINER_FIT_CLUSTER_H

#include "base/options.h"
#include "comm/tf_config.h"
#include "train/progress.h"

#include <signal.h>
#include <stddef.h>

struct fit_cluster_values {
    const char *ps_hosts, *worker_hosts, *job_name, *log;
    int64_t task_index, join_timeout, min_workers;
    double peer_timeout;
};

/* Rows of an option table, for a struct that has a `struct fit_cluster_values cluster`. */
#define FIT_CLUSTER_OPTIONS(values)                                                                \
    {.name = "join-timeout",                                                                       \
     .type = OPTION_INT,                                                                           \
     .offset = offsetof(values, cluster.join_timeout),                                             \
     .fallback = "300",                                                                            \
     .min = 1,                                                                                     \
     .max = 86400,                                                                                 \
     .value = "SECONDS",                                                                           \
     .help = "how long to wait for the other processes, in seconds"},                              \
        {.name = "ps-hosts",                                                                       \
         .type = OPTION_STRING,                                                                    \
         .offset = offsetof(values, cluster.ps_hosts),                                             \
         .value = "HOST:PORT,…",                                                                   \
         .help = "instead of TF_CONFIG: the parameter servers"},                                   \
        {.name = "worker-hosts",                                                                   \
         .type = OPTION_STRING,                                                                    \
         .offset = offsetof(values, cluster.worker_hosts),                                         \
         .value = "HOST:PORT,…",                                                                   \
         .help = "instead of TF_CONFIG: the workers"},                                             \
        {.name = "job-name",                                                                       \
         .type = OPTION_STRING,                                                                    \
         .offset = offsetof(values, cluster.job_name),                                             \
         .value = "ROLE",                                                                          \
         .help = "with --worker-hosts: what this process is, ps or worker"},                       \
        {.name = "task-index",                                                                     \
         .type = OPTION_INT,                                                                       \
         .offset = offsetof(values, cluster.task_index),                                           \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = TY_TASKS_MAX,                                                                      \
         .value = "N",                                                                             \
         .help = "with --worker-hosts: which of them it is, from 0"},                              \
    {                                                                                              \
        .name = "log", .type = OPTION_CHOICE, .offset = offsetof(values, cluster.log),             \
        .environment = "TRAINER_LOG", .fallback = "auto", .choices = "auto|plain|json",            \
        .value = "FORM",                                                                           \
        .help = "a bar on a terminal and a line a second elsewhere, a line a step, or JSON lines"  \
    }

/* The same, of models that train in step. */
#define FIT_ELASTIC_OPTIONS(values)                                                                \
    {.name = "min-workers",                                                                        \
     .type = OPTION_INT,                                                                           \
     .offset = offsetof(values, cluster.min_workers),                                              \
     .fallback = "0",                                                                              \
     .min = 0,                                                                                     \
     .max = TY_TASKS_MAX,                                                                          \
     .value = "N",                                                                                 \
     .help = "how many workers are enough to train; 0: all to begin with, and any that are left "  \
             "after a loss"},                                                                      \
    {                                                                                              \
        .name = "peer-timeout", .type = OPTION_REAL,                                               \
        .offset = offsetof(values, cluster.peer_timeout), .fallback = "5", .value = "SECONDS",     \
        .help = "a worker that does not answer for so long is taken for dead, in seconds"          \
    }

/* What the options say about a group that trains in step, for `config`. */
struct comm_options;
int fit_cluster_comm(const struct fit_cluster_values *values, const struct ty_tf_config *config,
                     uint64_t shape, struct comm_options *ret, struct err *err);

/* All workers of `config` find a picture in a batch, also those that come late: a newcomer must not
 * end a run that goes on. */
int fit_cluster_check_batch(const struct ty_tf_config *config, size_t batch, struct err *err);

/* From the classic flags if they are given, else from the environment. */
int fit_cluster_read(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                     struct err *err);

/* Set by SIGTERM and SIGINT; while `fit_joining`, when data are read or others waited for before
 * the first step and there is nothing to save, they end the process instead. */
extern volatile sig_atomic_t fit_stop_asked, fit_joining;

/* Handlers of signals, and threads as training wants them. First of all. */
void fit_begin(void);

void fit_say_line(void *context, const char *line); /* a report of comm, on standard error */
enum progress_style fit_log_style(const char *log); /* "auto", "plain", "json" */

/* Training that was stopped is not done: a job must not count its pod as a success, but run it
 * again. The code is that of a program which SIGTERM ended, whoever of the workers got the signal.
 */
enum { FIT_EXIT_STOPPED = 128 + SIGTERM };

#endif
