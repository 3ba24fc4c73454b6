/* The options that every training has; see fit_options.h. */
#include "cli/trainer/fit_options.h"

#include "base/file.h"
#include "base/mem.h"
#include "train/run_report.h"

#include <stdio.h>

#define FIELD(name) .offset = offsetof(struct fit_shared, name)

const struct option FIT_OPTIONS[] = {
    {.name = "seed",
     .type = OPTION_INT,
     FIELD(seed),
     .fallback = "1",
     .min = 0,
     .max = INT64_MAX,
     .value = "N",
     .help = "of everything drawn by chance, and of what is kept out of training"},
    {.name = "model-dir",
     .aliases = "checkpoint-dir",
     .type = OPTION_PATH,
     FIELD(model_dir),
     .environment = "TRAINER_MODEL_DIR|TF_MODEL_DIR",
     .value = "DIR",
     .marks = FIT_FREE,
     .help = "where checkpoints, or snapshots of parameter servers, and the model go; a run that "
             "was broken off goes on from there"},
    {.name = "config",
     .type = OPTION_CONFIG,
     FIELD(config),
     .environment = "TRAINER_CONFIG",
     .value = "FILE",
     .marks = FIT_FREE,
     .help = "YAML or JSON file with values of these options, as 'steps: 400'; the command line "
             "and the environment count more"},
    {.name = "monitor",
     .type = OPTION_STRING,
     FIELD(watch.monitor),
     .environment = "TRAINER_MONITOR|TRAINER_MONITOR_PORT",
     .fallback = "off",
     .check = fit_watch_check,
     .value = "PORT|IP:PORT|off",
     .marks = FIT_FREE,
     .help = "where to answer /progress, /metrics and /healthz meanwhile; PORT alone is that of "
             "all addresses"},
    {.name = "events",
     .aliases = "log-dir",
     .type = OPTION_PATH,
     FIELD(watch.events),
     .value = "DIR|off",
     .marks = FIT_FREE,
     .help = "where files for TensorBoard go; without it 'events' in --model-dir"},
    {.name = "join-timeout",
     .type = OPTION_INT,
     FIELD(cluster.join_timeout),
     .fallback = "300",
     .min = 1,
     .max = 86400,
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "how long to wait for the other processes, in seconds; a parameter server: for the "
             "first worker"},
    {.name = "encrypt",
     .type = OPTION_FLAG,
     FIELD(cluster.encrypt),
     .environment = "TRAINER_ENCRYPT",
     .help = "encrypt what goes over the network between workers, with TLS; all must be told, and "
             "have a TRAINYARD_JOB_SECRET"},
    {.name = "ps-hosts",
     .type = OPTION_STRING,
     FIELD(cluster.ps_hosts),
     .value = "HOST:PORT,…",
     .marks = FIT_FREE,
     .help = "instead of TF_CONFIG: the parameter servers"},
    {.name = "worker-hosts",
     .type = OPTION_STRING,
     FIELD(cluster.worker_hosts),
     .value = "HOST:PORT,…",
     .marks = FIT_FREE,
     .help = "instead of TF_CONFIG: the workers"},
    {.name = "job-name",
     .type = OPTION_STRING,
     FIELD(cluster.job_name),
     .value = "ROLE",
     .marks = FIT_FREE,
     .help = "with --worker-hosts: what this process is, ps or worker"},
    {.name = "task-index",
     .type = OPTION_INT,
     FIELD(cluster.task_index),
     .fallback = "0",
     .min = 0,
     .max = TY_TASKS_MAX,
     .value = "N",
     .marks = FIT_FREE,
     .help = "with --worker-hosts: which of them it is, from 0"},
    {.name = "log",
     .type = OPTION_CHOICE,
     FIELD(cluster.log),
     .environment = "TRAINER_LOG",
     .fallback = "auto",
     .choices = "auto|plain|json",
     .value = "FORM",
     .marks = FIT_FREE,
     .help = "a bar on a terminal and a line a second elsewhere, a line a step, or JSON lines"},
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
     .help = "of products; bf16 is about twice as fast on processors with AMX"},
    {.name = "clip",
     .type = OPTION_REAL,
     FIELD(clip),
     .fallback = "0",
     .range = {0, 1e30},
     .value = "X",
     .help = "shorten a gradient that is longer than this, over all parameters; 0: never"},
    {.name = "threads",
     .type = OPTION_INT,
     FIELD(threads),
     .environment = "TRAINER_THREADS",
     .fallback = "1",
     .min = 1,
     .max = 64,
     .value = "N",
     .marks = FIT_FREE,
     .help = "threads of this worker"},
    {.name = "loaders",
     .type = OPTION_INT,
     FIELD(loaders),
     .environment = "TRAINER_LOADERS",
     .fallback = "1",
     .min = 0,
     .max = 64,
     .value = "N",
     .marks = FIT_FREE,
     .help = "threads that make the next batches ahead; 0: none. The result is the same"},
    {.name = "checkpoint-every",
     .type = OPTION_INT,
     FIELD(checkpoint_every),
     .fallback = "100",
     .min = 0,
     .max = 100000000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "steps between checkpoints, or snapshots of parameter servers; 0: only at the end"},
    {.name = "keep",
     .type = OPTION_INT,
     FIELD(keep),
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .value = "N",
     .marks = FIT_FREE,
     .help = "checkpoints to keep"},
    {.name = "wire",
     .type = OPTION_CHOICE,
     FIELD(cluster.wire),
     .environment = "TRAINER_WIRE",
     .fallback = "fp32",
     .choices = "fp32|bf16",
     .value = "KIND",
     .help = "of gradients on their way to another machine; bf16 is half the bytes, with sums in "
             "fp32; the same for all workers"},
    {.name = "min-workers",
     .type = OPTION_INT,
     FIELD(cluster.min_workers),
     .fallback = "0",
     .min = 0,
     .max = TY_TASKS_MAX,
     .value = "N",
     .marks = FIT_FREE,
     .help = "how many workers are enough to train; 0: all to begin with, and any that are left "
             "after a loss"},
    {.name = "peer-timeout",
     .type = OPTION_REAL,
     FIELD(cluster.peer_timeout),
     .fallback = "5",
     .range = {0.1, 86400},
     .value = "SECONDS",
     .marks = FIT_FREE,
     .help = "a worker that does not answer for so long is taken for dead, in seconds"},
    {.more = FIT_OPTIONS},
};

int fit_refuse_usage(struct err *err)
{
    if (err)
        err->code = ERR_USAGE;
    return -ERR_USAGE;
}

void fit_say_not_kept(void)
{
    fit_say_line(NULL, "the model will not be kept: --model-dir says where to keep it");
}

/* malloc'ed; NULL: there is none. */
static char *report_path(const char *model_dir)
{
    char *path = model_dir ? mem_printf("%s/" RUN_REPORT_PAGE, model_dir) : NULL;
    if (path && !file_exists(path))
        free(TAKE(path));
    return path;
}

void fit_say_report(const char *model_dir)
{
    _cleanup_free_ char *path = report_path(model_dir);
    if (path)
        printf("report: %s\n", path);
}

void fit_set_report(struct arena *arena, struct json *line, const char *model_dir)
{
    _cleanup_free_ char *path = report_path(model_dir);
    if (path)
        json_set_string(arena, line, "report", path);
}
