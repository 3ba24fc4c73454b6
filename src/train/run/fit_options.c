/* The option tables that models share; see fit_options.h. */
#include "train/run/fit_options.h"

#include "base/str.h"
#include "comm/cluster/tf_config.h"
#include "train/run/monitor_address.h"

#define FIELD(name) .offset = offsetof(struct fit_values, name)

const struct option FIT_OPTIONS[] = {
    {.name = "seed",
     .type = OPTION_INT,
     FIELD(seed),
     .fallback = "1",
     .min = 0,
     .max = INT64_MAX,
     .value = "N",
     .help = "seed of all random numbers, and of the choice of test data"},
    {.name = "model-dir",
     .aliases = "checkpoint-dir",
     .type = OPTION_PATH,
     FIELD(model_dir),
     .environment = "TRAINER_MODEL_DIR|TF_MODEL_DIR",
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "directory for checkpoints (with parameter servers: for their snapshots) and for the "
             "model; an interrupted run is resumed from it"},
    {.name = "config",
     .type = OPTION_CONFIG,
     FIELD(config),
     .environment = "TRAINER_CONFIG",
     .value = "FILE",
     .marks = FIT_FREE,
     .help = "YAML or JSON file with values of these options, for example 'batch: 64'; the command "
             "line and the environment take precedence"},
    {.name = "monitor",
     .type = OPTION_STRING,
     FIELD(watch.monitor),
     .environment = "TRAINER_MONITOR|TRAINER_MONITOR_PORT",
     .fallback = "off",
     .check = monitor_address_check,
     .value = "PORT|IP:PORT|off",
     .marks = FIT_FREE,
     .help = "where to serve /progress, /metrics and /healthz during the training; PORT alone "
             "listens on all addresses"},
    {.name = "events",
     .aliases = "log-dir",
     .type = OPTION_PATH,
     FIELD(watch.events),
     .value = "DIR|off",
     .marks = FIT_FREE,
     .help = "directory for TensorBoard files, or off for none; default: 'events' in --model-dir"},
    {.name = "join-timeout",
     .type = OPTION_INT,
     FIELD(cluster.join_timeout),
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "how long to wait for the other processes, in seconds; a parameter server waits for "
             "its first worker"},
    {.name = "encrypt",
     .type = OPTION_FLAG,
     FIELD(cluster.encrypt),
     .environment = "TRAINER_ENCRYPT",
     .help =
         "encrypt the traffic between workers with TLS; all workers need this option and the same "
         "secret in TRAINYARD_JOB_SECRET; not possible with parameter servers"},
    {.name = "ps-hosts",
     .type = OPTION_STRING,
     FIELD(cluster.ps_hosts),
     .value = "HOST:PORT,…",
     .marks = FIT_FREE,
     .help = "addresses of the parameter servers, if TF_CONFIG is not set"},
    {.name = "worker-hosts",
     .type = OPTION_STRING,
     FIELD(cluster.worker_hosts),
     .value = "HOST:PORT,…",
     .marks = FIT_FREE,
     .help = "addresses of the workers, if TF_CONFIG is not set"},
    {.name = "job-name",
     .type = OPTION_STRING,
     FIELD(cluster.job_name),
     .value = "ROLE",
     .marks = FIT_FREE,
     .help = "with --worker-hosts: the role of this process, ps or worker"},
    {.name = "task-index",
     .type = OPTION_INT,
     FIELD(cluster.task_index),
     .fallback = "0",
     .min = 0,
     .max = TY_TASKS_MAX,
     .value = "N",
     .marks = FIT_FREE,
     .help = "with --worker-hosts: the index of this process in its role, from 0"},
    {.name = "log",
     .type = OPTION_CHOICE,
     FIELD(cluster.log),
     .environment = "TRAINER_LOG",
     .fallback = "auto",
     .choices = "auto|plain|json",
     .value = "FORM",
     .marks = FIT_FREE,
     .help = "auto: a bar on a terminal, one line per second elsewhere; plain: one line per step; "
             "json: JSON lines"},
    {0},
};

const struct option FIT_NETWORK_OPTIONS[] = {
    {.name = "precision",
     .type = OPTION_CHOICE,
     FIELD(precision),
     .environment = "TRAINER_PRECISION",
     .fallback = "fp32",
     .choices = "fp32|bf16",
     .value = "KIND",
     .help = "precision of matrix products; bf16 is about twice as fast on processors with AMX"},
    {.name = "clip",
     .type = OPTION_REAL,
     FIELD(clip),
     .fallback = "0",
     .range = {0, 1e30},
     .value = "X",
     .help =
         "largest norm of the gradient of all parameters; a larger gradient is scaled down; 0: no "
         "limit"},
    {.name = "threads",
     .type = OPTION_INT,
     FIELD(threads),
     .environment = "TRAINER_THREADS",
     .fallback = "1",
     .min = 1,
     .max = 64,
     .value = "N",
     .marks = FIT_FREE,
     .help = "compute threads of this worker"},
    {.name = "loaders",
     .type = OPTION_INT,
     FIELD(loaders),
     .environment = "TRAINER_LOADERS",
     .fallback = "1",
     .min = 0,
     .max = 64,
     .value = "N",
     .marks = FIT_FREE,
     .help =
         "threads that prepare the next batches in advance; 0: none; does not change the result"},
    {.name = "checkpoint-every",
     .type = OPTION_INT,
     FIELD(checkpoint_every),
     .fallback = "100",
     .min = 0,
     .max = 100000000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "steps between checkpoints; 0: only at the end"},
    {.name = "keep",
     .type = OPTION_INT,
     FIELD(keep),
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "number of checkpoints to keep"},
    {.name = "wire",
     .type = OPTION_CHOICE,
     FIELD(cluster.wire),
     .environment = "TRAINER_WIRE",
     .fallback = "fp32",
     .choices = "fp32|bf16",
     .value = "KIND",
     .help = "format of gradients between machines; bf16 halves the bytes and sums in fp32; must "
             "be the same for all workers"},
    {.name = "min-workers",
     .type = OPTION_INT,
     FIELD(cluster.min_workers),
     .fallback = "0",
     .min = 0,
     .max = TY_TASKS_MAX,
     .value = "N",
     .marks = FIT_FREE,
     .help =
         "smallest number of workers that may train; 0: all of them at the start, and one or more "
         "after a loss"},
    {.name = "peer-timeout",
     .type = OPTION_REAL,
     FIELD(cluster.peer_timeout),
     .fallback = "5",
     .range = {0.1, 86400},
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "seconds without an answer after which a worker counts as lost"},
    {.more = FIT_OPTIONS},
};

enum progress_style fit_options_style(const char *log)
{
    return str_eq(log, "json")    ? PROGRESS_JSON
           : str_eq(log, "plain") ? PROGRESS_PLAIN
                                  : PROGRESS_AUTO;
}

struct fit_options fit_options_read(const struct fit_values *values)
{
    return (struct fit_options){
        .seed = (uint64_t)values->seed,
        .threads = (int)values->threads,
        .loaders = (int)values->loaders,
        .clip = (float)values->clip,
        .model_dir = str_is_empty(values->model_dir) ? NULL : values->model_dir,
        .checkpoint_every = (uint64_t)values->checkpoint_every,
        .keep = (size_t)values->keep,
        .log = {.style = fit_options_style(values->cluster.log)},
    };
}

int fit_options_refuse(struct err *err)
{
    if (err)
        err->code = ERR_USAGE;
    return -ERR_USAGE;
}
