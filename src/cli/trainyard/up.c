/* trainyard up: starts the embedded cluster, by default in the background, and returns when the
 * cluster is ready. */
#include "cli/trainyard/background.h"
#include "cli/trainyard/cluster.h"
#include "cli/trainyard/commands.h"
#include "cli/trainyard/shares.h"
#include "cli/trainyard/state_dir.h"
#include "cli/trainyard/state_reserve.h"
#include "cli/trainyard/up_settings.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/devices.h"
#include "net/http/server.h"
#include "node/network/port_holder.h"
#include "node/node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAKE_GPUS_MAX = 16 };

struct up_values {
    const char *state;
    int64_t port;
    const char *kubeconfig;
    struct up_settings settings;
    const char *resolv_conf;
    int64_t fake_gpus;
    struct option_list shares;
    bool foreground;
    bool no_restart;
    bool plain;
    bool isolated;
    bool no_operator;
};

static bool has_kubectl(struct arena *arena)
{
    const char *path = getenv("PATH");
    size_t count = 0;
    char **directories = path ? str_split(arena, path, ':', &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (access(arena_printf(arena, "%s/kubectl", directories[i]), X_OK) == 0)
            return true;
    return false;
}

static void print_ready(void *context)
{
    const struct cluster_options *options = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    bool state_in_environment = getenv("TRAINYARD_STATE") != NULL;
    printf("the cluster is up: https://127.0.0.1:%d\n\n"
           "    export KUBECONFIG=%s\n"
           "    kubectl get nodes\n\n"
           "stop it with: trainyard down%s%s\n",
           options->port, str_shell_word(arena, options->kubeconfig),
           state_in_environment ? "" : " --state ",
           state_in_environment ? "" : str_shell_word(arena, options->state->path));
    if (!has_kubectl(arena))
        printf("\nkubectl is not in PATH: on Debian, install it with 'apt-get install "
               "kubernetes-client'; any kubectl from 1.20 on works\n");
    for (size_t i = 0; options->shares[i]; i++)
        printf("%spods read and write %s\n", i ? "" : "\n",
               str_shell_word(arena, options->shares[i]));
    const char *notes[] = {node_note(arena, options->state->path),
                           node_size_note(arena, &options->size)};
    for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
        if (notes[i])
            printf("\nnote: %s\n", notes[i]);
    fflush(stdout);
}

static int port_taken_error(int64_t port, struct err *err)
{
    const struct in_addr here = {.s_addr = htonl(INADDR_LOOPBACK)};
    char holder[128];
    bool known = node_port_holder(SOCK_STREAM, here, (uint16_t)port, holder, sizeof(holder));
    return err_set(err, ERR_EXISTS,
                   "port %d is taken by %s: stop that program, or choose another port with --port "
                   "N (0: any free port)",
                   (int)port, known ? holder : "a program of another user");
}

/* Returns the absolute path, because a server in the background changes its working directory. */
static const char *path_absolute(struct arena *arena, const char *path)
{
    _cleanup_free_ char *current = getcwd(NULL, 0);
    return path[0] == '/' ? path : arena_printf(arena, "%s/%s", current ? current : "", path);
}

static int up_start(const struct up_values *wanted, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    struct state_server server = {0};
    struct cluster_options options = {.state = &state};
    struct up_cluster cluster;
    _cleanup_fd_ int lock = -1;
    int result = state_dir_resolve(arena, wanted->state, &state, err);
    if (result == 0)
        result = state_dir_make(&state, err);
    if (result == 0)
        result = state_dir_await_server(arena, &state, &server, err);
    if (result < 0)
        return result;
    if (server.running) {
        printf("a cluster is already running in '%s' (pid %d)\n\n    export KUBECONFIG=%s\n",
               state.path, (int)server.pid, str_shell_word(arena, server.kubeconfig));
        if (!str_is_empty(wanted->settings.nodes) || !str_is_empty(wanted->settings.cpus) ||
            !str_is_empty(wanted->settings.memory) || !str_is_empty(wanted->kubeconfig) ||
            wanted->shares.count || wanted->no_operator || wanted->plain || wanted->no_restart)
            printf("\nits options do not change while it runs: run 'trainyard down' before "
                   "'trainyard up' with other options\n");
        return 0;
    }
    /* From here on no other server can start. A server in the background inherits the lock. */
    result = state_dir_lock(&state, &lock, err);
    if (result == 0)
        result = state_reserve_use(&state, err);
    if (result == 0)
        result = up_settings_apply(arena, &state, &wanted->settings, &cluster, err);
    if (result == 0)
        result = shares_choose(arena, &state, &wanted->shares, &options.shares, err);
    if (result == 0)
        result =
            http_listen("127.0.0.1", (int)wanted->port, &options.listen_fd, &options.port, err);
    if (result < 0 && err->sys == EADDRINUSE)
        return port_taken_error(wanted->port, err);
    if (result != 0)
        return result;
    options.node_names = cluster.node_names;
    options.size = cluster.size;
    options.no_operator = wanted->no_operator;
    options.fake_gpus = (int)wanted->fake_gpus;
    options.plain = wanted->plain;
    options.isolated = wanted->isolated;
    options.kubeconfig = state.kubeconfig;
    if (!str_is_empty(wanted->kubeconfig))
        options.kubeconfig = path_absolute(arena, wanted->kubeconfig);
    if (!str_is_empty(wanted->resolv_conf))
        options.resolv_conf = path_absolute(arena, wanted->resolv_conf);
    result = wanted->foreground ? cluster_run(&options, print_ready, &options, err)
                                : background_start(&options, lock, !wanted->no_restart, err);
    if (result == 0 && !wanted->foreground)
        print_ready(&options);
    return result;
}

static int up_run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    return up_start(values, err);
}

static int check_resolv_conf(const char *text, struct err *err)
{
    if (!str_is_empty(text) && access(text, R_OK) < 0)
        return err_set(err, ERR_USAGE, "cannot read '%s': %s", text, strerror(errno));
    return 0;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct up_values),
    {.name = "port",
     .type = OPTION_INT,
     .offset = offsetof(struct up_values, port),
     .environment = "TRAINYARD_PORT",
     .fallback = "6443",
     .min = 0,
     .max = 65535,
     .value = "N",
     .help = "TCP port of the API server on 127.0.0.1; 0 chooses a free one"},
    {.name = "kubeconfig",
     .type = OPTION_STRING,
     .offset = offsetof(struct up_values, kubeconfig),
     .value = "FILE",
     .help = "write the kubeconfig here (default: 'kubeconfig' in the state directory)"},
    {.name = "nodes",
     .type = OPTION_STRING,
     .offset = offsetof(struct up_values, settings.nodes),
     .value = "N|NAME,…",
     .help = "number of nodes, or their names (default: as in the last 'up', else 1)"},
    {.name = "cpus",
     .type = OPTION_STRING,
     .offset = offsetof(struct up_values, settings.cpus),
     .value = "N",
     .check = up_settings_check_cpus,
     .help =
         "CPUs that each node offers, as 8, 2.5 or 500m; may be more than the machine has; 0 means "
         "all of the machine (default: as in the last 'up', else 0)"},
    {.name = "memory",
     .type = OPTION_STRING,
     .offset = offsetof(struct up_values, settings.memory),
     .value = "SIZE",
     .check = up_settings_check_memory,
     .help =
         "memory that each node offers, as 8Gi; may be more than the machine has; 0 means all of "
         "the machine (default: as in the last 'up', else 0)"},
    {.name = "resolv-conf",
     .type = OPTION_STRING,
     .offset = offsetof(struct up_values, resolv_conf),
     .value = "FILE",
     .check = check_resolv_conf,
     .help = "file with the name servers for names outside of the cluster (default: "
             "/etc/resolv.conf)"},
    {.name = "fake-gpus",
     .type = OPTION_INT,
     .offset = offsetof(struct up_values, fake_gpus),
     .fallback = "0",
     .min = 0,
     .max = FAKE_GPUS_MAX,
     .value = "N",
     .help = "report N simulated GPUs, to try out jobs that request " KUBE_DEVICES_RESOURCE},
    {.name = "share",
     .type = OPTION_LIST,
     .offset = offsetof(struct up_values, shares),
     .value = "DIR",
     .help = "let every pod read and write this directory of the machine, at the same path; 'none' "
             "shares no directory (default: those of the last 'up')"},
    {.name = "foreground",
     .type = OPTION_FLAG,
     .offset = offsetof(struct up_values, foreground),
     .help = "stay in the foreground until Ctrl-C; a crashed server is not restarted, because that "
             "is the task of the program that started it (systemd)"},
    {.name = "no-restart",
     .type = OPTION_FLAG,
     .offset = offsetof(struct up_values, no_restart),
     .help = "do not restart the server after a crash"},
    {.name = "plain",
     .type = OPTION_FLAG,
     .offset = offsetof(struct up_values, plain),
     .help =
         "run pods as plain processes without namespaces, as on a machine that forbids namespaces"},
    {.name = "isolated",
     .type = OPTION_FLAG,
     .offset = offsetof(struct up_values, isolated),
     .help = "give pods no network access beyond the cluster; has no effect on pods that run "
             "without namespaces"},
    {.name = "no-operator",
     .type = OPTION_FLAG,
     .offset = offsetof(struct up_values, no_operator),
     .help = "do not run TFJobs and PyTorchJobs, because a separate 'trainyard operator' does"},
    {0},
};

const struct command COMMAND_UP = {
    .name = "up",
    .synonyms = "start|run|init",
    .summary = "start a Kubernetes API and nodes on this machine",
    .description =
        "Starts the embedded cluster in the background and returns when it is ready. Objects, logs "
        "and volumes "
        "survive 'trainyard down' and even kill -9; running pods survive kill -9 of the server, "
        "which is restarted after a crash.",
    .examples = "trainyard up --nodes 3\nexport "
                "KUBECONFIG=~/.local/state/trainyard/kubeconfig\nkubectl get nodes",
    .options = OPTIONS,
    .values_size = sizeof(struct up_values),
    .run = up_run,
};
