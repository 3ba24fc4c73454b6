/* Implements the parts of `trainer fit` that concern the processes of a run; see fit_cluster.h. */
#include "cli/trainer/fit_cluster.h"

#include "base/mem.h"
#include "base/str.h"
#include "comm/group/group.h"

#include <stdio.h>
#include <unistd.h>

/* Global, because a signal handler has no context parameter. */
volatile sig_atomic_t fit_stop_signal, fit_joining;

/* Requests a stop: the training finishes the current step, saves, and ends. Before the first step
 * there is nothing to save, so the process ends at once. */
static void on_fit_signal(int signal)
{
    if (fit_joining)
        _exit(128 + signal);
    fit_stop_signal = signal;
}

int fit_stopped_exit_code(void)
{
    return 128 + (fit_stop_signal ? fit_stop_signal : SIGTERM);
}

void fit_install_signals(void)
{
    struct sigaction action = {.sa_handler = on_fit_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct sigaction hangup = {0};
    if (sigaction(SIGHUP, NULL, &hangup) == 0 &&
        hangup.sa_handler != SIG_IGN) /* nohup ignores SIGHUP */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed log pipe must not end the training */
}

void fit_print_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "trainer: %s\n", line);
}

static int fit_read_cluster(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                            struct err *err)
{
    if (values->worker_hosts && !*values->worker_hosts)
        return err_set(
            err, ERR_USAGE,
            "--worker-hosts is empty: write HOST:PORT,…, or leave it out to train in one process");
    bool hosts = !str_is_empty(values->ps_hosts) || !str_is_empty(values->worker_hosts);
    if (!hosts && str_is_empty(values->job_name) && values->task_index == 0)
        return tf_config_from_process_environment(ret, err);
    if (str_is_empty(values->worker_hosts) || str_is_empty(values->job_name))
        return err_set(err, ERR_USAGE,
                       "--ps-hosts, --worker-hosts, --job-name and --task-index belong together: "
                       "'%s' is missing",
                       str_is_empty(values->worker_hosts) ? "--worker-hosts" : "--job-name");
    return tf_config_from_flags(values->ps_hosts, values->worker_hosts, values->job_name,
                                (int)values->task_index, ret, err);
}

int fit_cluster_read(const struct fit_cluster_values *values, struct ty_tf_config **ret,
                     struct err *err)
{
    int result = fit_read_cluster(values, ret, err);
    if (result < 0)
        return result;
    size_t workers = tf_config_workers(*ret);
    bool servers = ty_tf_config_count(*ret, TY_ROLE_PS) > 0;
    if ((size_t)values->min_workers <= workers && !(values->encrypt && servers))
        return 0;
    ty_tf_config_free(TAKE(*ret));
    if (values->encrypt && servers)
        return err_set(err, ERR_UNSUPPORTED,
                       "--encrypt: links to parameter servers cannot be encrypted yet: leave it "
                       "out where the network can be trusted, or train without PS replicas");
    return err_set(err, ERR_USAGE, "--min-workers is %lld, but there %s only %zu worker%s",
                   (long long)values->min_workers, workers == 1 ? "is" : "are", workers,
                   workers == 1 ? "" : "s");
}

int fit_cluster_check_batch(const struct ty_tf_config *config, size_t batch, struct err *err)
{
    size_t workers = tf_config_workers(config);
    if (batch < workers)
        return err_set(err, ERR_USAGE,
                       "a batch of %zu pictures cannot be shared by %zu workers: make it larger",
                       batch, workers);
    return 0;
}

struct comm_options fit_cluster_comm(const struct fit_cluster_values *values,
                                     const struct ty_tf_config *config, uint64_t shape)
{
    enum {
        LATECOMERS_MS = 10000
    }; /* how long the first step waits for workers beyond --min-workers */
    return (struct comm_options){
        .config = config,
        .shape = shape,
        .wire = str_eq(values->wire, "bf16") ? COMM_WIRE_BF16 : COMM_WIRE_F32,
        .encrypt = values->encrypt,
        .join_timeout_ms = values->join_timeout * 1000,
        .min_members = values->min_workers ? (int)values->min_workers : 1,
        .start_members = (int)values->min_workers,
        .start_after_ms = LATECOMERS_MS,
        .peer_timeout_ms = (int64_t)(values->peer_timeout * 1000),
        .stop = &fit_stop_signal,
        .report = fit_print_line,
    };
}
