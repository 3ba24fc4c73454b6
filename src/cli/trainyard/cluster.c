/* Opens, connects and closes the parts of the embedded cluster; see cluster.h. */
#include "cli/trainyard/cluster.h"

#include "base/budget.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "cli/trainyard/credentials.h"
#include "cli/trainyard/state_reserve.h"
#include "engine/engine.h"
#include "kube/client/client.h"
#include "kube/client/kubeconfig.h"
#include "kube/condition.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "net/http/server.h"
#include "node/network/connect.h"
#include "node/node.h"
#include "operator/controller/controller.h"
#include "pipeline/controller/controller.h"
#include "pipeline/spec/workflow_kind.h"
#include "store/store.h"
#include "tls/tls.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    READY_POLL_MS = 10,
    CALM_CHECK_MS = 1000, /* interval of on_trim() if clients used little memory recently */
    BURST_CHECK_MS = 100, /* interval of on_trim() if clients used much memory recently */
    TRIM_MS = 60 * 1000,
    BURST_MIN =
        8 * 1024 * 1024, /* bytes; a smaller burst causes no trim before TRIM_MS has passed */
    API_SOCKETS = 3,
    API_PORT = 6443, /* port of the API server in the pod network */
};

struct cluster {
    const struct cluster_options *options;
    struct arena *arena;
    struct credentials credentials;
    struct node_options node_options;
    struct node_namespaces *space; /* the namespaces of the nodes and the pod network */
    struct loop *loop;
    struct loop_signals *signals;
    struct store *store;
    struct engine *engine;
    struct tls_server *tls;
    struct budget_group http_memory;          /* memory of the clients of all servers */
    struct http_server *servers[API_SOCKETS]; /* listeners on the machine and in the pod network */
    struct http_transport *transport;         /* in-process transport of the controllers */
    struct engine_controllers *controllers;
    struct host_ports *host_ports; /* host ports of the replicas of all training kinds */
    /* The kinds that the API server serves in addition to those of kube/kinds/, terminated by
     * NULL. */
    const struct kube_kind *kinds[TRAINING_KIND_COUNT + 2];
    struct training_controller *trainings[TRAINING_KIND_COUNT]; /* in the order of TRAINING_KINDS */
    struct workflow_controller *workflows;
    struct node_runtime *runtime;

    struct kube_client *probe; /* checks whether the nodes are ready */
    struct loop_timer probe_timer;
    struct loop_timer trim_timer;
    int64_t next_trim_ms;
    size_t burst; /* the most bytes that clients used since the last trim */
    void (*ready)(void *context);
    void *ready_context;
    struct err failed; /* a failure after the start of the loop; code 0: none */
    int closing;       /* number of parts (listeners, store) that are not closed yet */
};

/* Returns the path of another program of Trainyard, which is in the same directory as this program,
 * both in a build directory and in /usr/bin. */
static const char *program_path(struct arena *arena, const char *name)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (size < 0)
        return name;
    path[size] = '\0';
    *(strrchr(path, '/') + 1) = '\0';
    return arena_printf(arena, "%s%s", path, name);
}

static int check_programs(const struct node_options *options, struct err *err)
{
    if (access(options->step_path, X_OK) < 0)
        return err_set_errno(err, errno, "cannot run '%s', which starts the pods",
                             options->step_path);
    return 0;
}

/* Registers the kubeconfig as a file that pods must not read, and then writes it. The registration
 * fails if a running pod could read the file, because a file that did not exist when a container
 * started cannot be hidden from it. If either step fails in a server that was restarted after
 * a crash, the server logs a warning and continues. */
static int write_kubeconfig(struct cluster *cluster, struct err *err)
{
    const struct cluster_options *options = cluster->options;
    struct kubeconfig config = {
        .server = arena_printf(cluster->arena, "https://127.0.0.1:%d", options->port),
        .ca_pem = cluster->credentials.ca_pem,
        .token = cluster->credentials.token,
        .namespace_ = "default",
    };
    int result =
        node_secret_file_add(cluster->space, options->state->path, options->kubeconfig, err);
    if (result == 0)
        result = kubeconfig_write(options->kubeconfig, "trainyard", &config, err);
    if (result < 0 && options->restarted) {
        log_warning("cluster", "the kubeconfig was not written: %s", err->message);
        err_clear(err);
        return 0;
    }
    return result;
}

static int cluster_sign(void *context, const void *data, size_t size,
                        unsigned char ret[ENGINE_SIGNATURE_SIZE], struct err *err)
{
    const struct cluster *cluster = context;
    const char *key = cluster->credentials.account_key;
    return tls_hmac(key, strlen(key), data, size, ret, err);
}

static int serve_on(struct cluster *cluster, int listen_fd, struct http_server **ret,
                    struct err *err)
{
    struct http_server_options server = {.listen_fd = listen_fd,
                                         .tls = cluster->tls,
                                         .admit = engine_admit,
                                         .memory = &cluster->http_memory,
                                         .write_refusal = engine_write_refusal};
    return http_server_new(cluster->loop, &server, engine_handle, cluster->engine, ret, err);
}

/* Serves the API on the machine, and in the pod network at API_PORT and at the port of the
 * kubeconfig. Without namespaces there is no pod network. */
static int serve_api(struct cluster *cluster, struct err *err)
{
    const int ports[] = {API_PORT, cluster->options->port};
    int result = serve_on(cluster, cluster->options->listen_fd, &cluster->servers[0], err);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(ports); i++) {
        int fd;
        if (node_namespaces_plain(cluster->space) || (i > 0 && ports[i] == ports[0]))
            break;
        result = node_namespaces_listen(cluster->space, ports[i], &fd, err);
        if (result == 0)
            result = serve_on(cluster, fd, &cluster->servers[i + 1], err);
    }
    return result;
}

static void log_store(void *context, const char *text)
{
    (void)context;
    log_error("store", "%s", text);
}

/* Logs the damage of the store and how to repair it. The store still serves the intact objects. */
static void log_damage(const struct store *store, const char *state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *word = str_shell_word(arena, state);
    store_damage_describe(store_damage(store), log_store, NULL);
    if (store_is_damaged(store))
        log_error("store",
                  "the database is damaged: run 'trainyard down --state %s', then 'trainyard check "
                  "--state %s', which shows the damage and the options that repair it",
                  word, word);
}

static void on_disk_full(void *context, const struct err *err)
{
    const struct cluster *cluster = context;
    if (err) {
        log_error("store", "%s; until then only deletions are written", err->message);
        return;
    }
    log_info("store", "the disk has free space again: all writes are accepted");
    state_reserve_keep(cluster->options->state);
}

static int open_api(struct cluster *cluster, struct err *err)
{
    struct store_options store = {.path = cluster->options->state->database,
                                  .on_full = on_disk_full,
                                  .on_full_context = cluster};
    struct engine_options engine = {.token = cluster->credentials.token,
                                    .version = TRAINYARD_VERSION,
                                    .kinds = cluster->kinds,
                                    .ca_pem = cluster->credentials.ca_pem,
                                    .signer = {cluster_sign, cluster},
                                    .http_memory = &cluster->http_memory};
    for (size_t i = 0; i < TRAINING_KIND_COUNT; i++)
        cluster->kinds[i] = TRAINING_KINDS[i]->row;
    cluster->kinds[TRAINING_KIND_COUNT] = &WORKFLOW_KIND;
    budget_group_init(&cluster->http_memory, HTTP_MEMORY_MAX, HTTP_MEMORY_MAX / 2);
    int result = store_open(cluster->loop, &store, &cluster->store, err);
    if (result == 0)
        log_damage(cluster->store, cluster->options->state->path);
    if (result == 0)
        result = engine_new(cluster->loop, cluster->store, &engine, &cluster->engine, err);
    if (result < 0)
        return result;
    result = tls_server_new(cluster->credentials.cert_pem, cluster->credentials.key_pem,
                            &cluster->tls, err);
    if (result < 0)
        return err_wrap(err, "'%s' is damaged (move it away, and 'trainyard up' creates a new one)",
                        cluster->options->state->pki);
    return serve_api(cluster, err);
}

/* Connects to a pod through its node, because this process is not in the pod network. */
static void *dial_pod(void *context, const struct json *pod, int port, training_dial_done *done,
                      void *done_context)
{
    const struct cluster *cluster = context;
    struct engine_pod_backend backend = node_runtime_backend(cluster->runtime);
    return backend.connect(backend.context, pod, port, done, done_context);
}

static void cancel_dialing(void *dialing)
{
    node_connect_cancel(dialing);
}

static const char *find_claim(void *context, struct arena *arena, const char *namespace_,
                              const char *claim)
{
    const struct cluster *cluster = context;
    return cluster->runtime
               ? node_runtime_claim_directory(cluster->runtime, arena, namespace_, claim)
               : NULL;
}

static void open_operator(struct cluster *cluster)
{
    cluster->host_ports = host_ports_new(HOST_PORTS_FIRST, HOST_PORTS_LAST);
    struct training_dialer dialer = {
        .open = dial_pod, .cancel = cancel_dialing, .context = cluster};
    struct training_claims claims = {.directory = find_claim, .context = cluster};
    const char *shared = node_namespaces_plain(cluster->space) ? "127.0.0.1" : NULL;
    struct training_controller_options training = {.host_ports = cluster->host_ports,
                                                   .shared_address = shared,
                                                   .dialer = &dialer,
                                                   .claims = &claims,
                                                   /* The built-in scheduler starts all pods of a
                                                    * PodGroup or none. */
                                                   .gang_scheduler = "scheduler-plugins-scheduler"};
    for (size_t i = 0; i < TRAINING_KIND_COUNT; i++)
        cluster->trainings[i] = training_controller_new(cluster->loop, cluster->transport,
                                                        TRAINING_KINDS[i], &training);
}

static int open_controllers(struct cluster *cluster, struct err *err)
{
    /* Pipelines use service accounts that an installation of Kubeflow creates; here the controller
     * creates them. */
    struct workflow_controller_options workflows = {.make_accounts = true};
    cluster->transport =
        http_local_new(cluster->loop, engine_handle, cluster->engine, cluster->credentials.token);
    cluster->controllers =
        engine_controllers_new(cluster->loop, cluster->transport, cluster->kinds);
    if (!cluster->options->no_operator)
        open_operator(cluster);
    cluster->workflows = workflow_controller_new(cluster->loop, cluster->transport, &workflows);
    int result = node_runtime_new(cluster->loop, cluster->transport, cluster->space,
                                  &cluster->node_options, &cluster->runtime, err);
    if (result < 0)
        return result;
    struct engine_pod_backend backend = node_runtime_backend(cluster->runtime);
    engine_set_pod_backend(cluster->engine, &backend);
    return 0;
}

/* Stops the loop; cluster_run() returns this error. */
static void cluster_fail(struct cluster *cluster, const struct err *err)
{
    cluster->failed = *err;
    loop_stop(cluster->loop);
}

/* Called when the cluster is ready: the API answers and every node is Ready. Writes the server
 * file, with which other commands find the server. */
static void cluster_announce(struct cluster *cluster)
{
    struct err err = ERR_INIT;
    struct state_server server = {
        .pid = getpid(),
        .port = cluster->options->port,
        .kubeconfig = cluster->options->kubeconfig,
        .version = TRAINYARD_VERSION,
    };
    if (state_dir_write_server(cluster->options->state, &server, &err) < 0) {
        cluster_fail(cluster, &err);
        return;
    }
    state_reserve_keep(cluster->options->state);
    log_info("cluster", "ready on https://127.0.0.1:%d", server.port);
    cluster->ready(cluster->ready_context);
}

/* Stops the cluster and returns true if the store refuses writes, for example on a full disk. Then
 * the nodes cannot register and never become Ready. */
static bool stop_if_store_fails(struct cluster *cluster)
{
    struct err err = ERR_INIT;
    if (store_check(cluster->store, &err) == 0)
        return false;
    if (err.sys == ENOSPC)
        err_set(&err, ERR_IO,
                "cannot add the nodes because the disk of '%s' is full: delete files on this "
                "disk, then run 'trainyard up' again",
                cluster->options->state->path);
    else
        err_wrap(&err, "cannot add the nodes");
    cluster_fail(cluster, &err);
    return true;
}

static void on_nodes(void *context, struct json *list, const struct err *err)
{
    struct cluster *cluster = context;
    size_t wanted = 0, ready = 0;
    while (cluster->options->node_names[wanted])
        wanted++;
    JSON_EACH (node, json_get(list, "items")) {
        ready += kube_condition_is_true(node, "Ready");
    }
    bool is_missing = !err && json_count(json_get(list, "items")) < wanted;
    if (!err && ready >= wanted)
        cluster_announce(cluster);
    else if (!is_missing || !stop_if_store_fails(cluster))
        loop_timer_start(&cluster->probe_timer, READY_POLL_MS);
}

static void cluster_probe(struct loop_timer *timer)
{
    struct cluster *cluster = CONTAINER_OF(timer, struct cluster, probe_timer);
    kube_list(cluster->probe, &KUBE_NODES, NULL, NULL, NULL, on_nodes, cluster);
}

/* Returns free memory to the system every minute, and also soon after a burst of large requests.
 * Otherwise the memory of two bursts could add up. */
static void on_trim(struct loop_timer *timer)
{
    struct cluster *cluster = CONTAINER_OF(timer, struct cluster, trim_timer);
    size_t used = cluster->http_memory.total.used;
    if (used > cluster->burst)
        cluster->burst = used;
    int64_t now = loop_now_ms(cluster->loop);
    if (now >= cluster->next_trim_ms || cluster->burst - used >= BURST_MIN) {
        mem_trim();
        cluster->next_trim_ms = now + TRIM_MS;
        cluster->burst = used;
    }
    loop_timer_start(timer, cluster->burst >= BURST_MIN ? BURST_CHECK_MS : CALM_CHECK_MS);
}

static void on_cluster_signal(void *context, int signal)
{
    struct cluster *cluster = context;
    log_info("cluster", "%s: stopping the server; the pods keep running",
             signal == SIGINT ? "Ctrl-C" : "SIGTERM");
    loop_stop(cluster->loop);
}

static void on_cluster_closed(void *context)
{
    struct cluster *cluster = context;
    if (--cluster->closing == 0)
        loop_stop(cluster->loop);
}

/* Stops the parts in the reverse order of their start. The listeners and the store close
 * asynchronously, and the store first commits the queued writes. The objects that they use are
 * freed after that. */
static void close_cluster(struct cluster *cluster, bool failed)
{
    unlink(cluster->options->state->server); /* other commands must not use this server any more */
    if (cluster->loop) {
        loop_timer_stop(&cluster->probe_timer);
        loop_timer_stop(&cluster->trim_timer);
        kube_client_free(cluster->probe);
        node_runtime_free(cluster->runtime);
        workflow_controller_free(cluster->workflows);
        for (size_t i = TRAINING_KIND_COUNT; i > 0; i--)
            training_controller_free(cluster->trainings[i - 1]);
        host_ports_free(cluster->host_ports);
        engine_controllers_free(cluster->controllers);
        cluster->closing = 1;
        for (size_t i = 0; i < API_SOCKETS; i++) {
            if (cluster->servers[i]) {
                cluster->closing++;
                http_server_close(cluster->servers[i], on_cluster_closed, cluster);
            }
        }
        if (cluster->store) {
            cluster->closing++;
            store_close(cluster->store, on_cluster_closed, cluster);
        }
        loop_signals_free(cluster->signals);
        if (--cluster->closing > 0)
            loop_run(cluster->loop);
        http_transport_free(cluster->transport);
        engine_free(cluster->engine);
        budget_group_release(&cluster->http_memory);
        tls_server_free(cluster->tls);
        loop_free(cluster->loop);
    }
    if (failed)
        node_namespaces_abandon(cluster->space, cluster->options->state->path);
    else
        node_namespaces_free(cluster->space);
    arena_free(cluster->arena);
}

int cluster_run(const struct cluster_options *options, void (*ready)(void *context), void *context,
                struct err *err)
{
    struct cluster cluster = {
        .options = options, .arena = arena_new(), .ready = ready, .ready_context = context};
    cluster.node_options = (struct node_options){
        .state_dir = options->state->path,
        .node_names = options->node_names,
        .size = options->size,
        .api_port = options->port,
        .step_path = program_path(cluster.arena, "trainyard-step"),
        .prober_path = program_path(cluster.arena, "trainyard"),
        .trainer_path = program_path(cluster.arena, "trainer"),
        .plain = options->plain,
        .isolated = options->isolated,
        .resolv_conf = options->resolv_conf,
        .fake_gpus = options->fake_gpus,
        .shares = options->shares,
    };
    mem_return_large_blocks();
    signal(SIGPIPE, SIG_IGN); /* a program in a pod may close its input while this process writes to
                               * it */
    signal(SIGCHLD, SIG_DFL); /* the parent process may ignore SIGCHLD, which is inherited */
    int result = check_programs(&cluster.node_options, err);
    if (result == 0)
        result = credentials_load(cluster.arena, options->state, &cluster.credentials, err);
    /* Enter the namespaces before any thread starts, because only a process with one thread can do
     * so. */
    if (result == 0)
        result = node_namespaces_enter(&cluster.node_options, &cluster.space, err);
    if (result == 0)
        result = write_kubeconfig(&cluster, err);
    if (result == 0)
        result = loop_new(&cluster.loop, err);
    if (result == 0)
        result = loop_signals_new(cluster.loop, on_cluster_signal, &cluster, &cluster.signals, err);
    if (result == 0) {
        loop_timer_init(cluster.loop, &cluster.probe_timer, cluster_probe);
        loop_timer_init(cluster.loop, &cluster.trim_timer, on_trim);
        result = open_api(&cluster, err);
    }
    if (result == 0)
        result = open_controllers(&cluster, err);
    if (result == 0) {
        cluster.probe = kube_client_new(cluster.loop, cluster.transport, "trainyard");
        loop_timer_start(&cluster.probe_timer, 0);
        loop_timer_start(&cluster.trim_timer, CALM_CHECK_MS);
        loop_run(cluster.loop);
        if (cluster.failed.code) {
            *err = cluster.failed;
            result = -(int)err->code;
        }
    }
    close_cluster(&cluster, result < 0);
    return result;
}
