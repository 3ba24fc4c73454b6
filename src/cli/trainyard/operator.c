/* trainyard operator: runs the controllers of TFJobs and PyTorchJobs for any Kubernetes cluster.
 * This file parses the options, including those of Kubeflow's training operator. operator_process.c
 * runs the process. */
#include "cli/trainyard/commands.h"
#include "cli/trainyard/operator_process.h"
#include "cli/trainyard/operator_server.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "operator/reconcile/host_ports.h"

#include <stdlib.h>
#include <unistd.h>

struct operator_values {
    const char *kubeconfig, *context, *namespace_;
    int64_t workers, controller_threads, burst;
    double rate;
    bool elect;
    const char *lease_name, *lease_namespace;
    const char *gang_scheduler;
    struct option_list schemes;
    const char *cluster_domain;
    const char *host_port_range;
    const char *metrics_address, *health_address;
    const char *log_format, *log_level;
    /* Options of Kubeflow's operator. Only `zap_level` has an effect here. */
    const char *webhook_port, *webhook_service, *webhook_secret;
    const char *init_image, *init_template, *init_tries, *mpi_image;
    bool zap_devel;
    const char *zap_encoder, *zap_level, *zap_stacktrace, *zap_time;
};

/* Adds a kind to the options. A kind that only Kubeflow's operator runs causes a warning. */
static int add_kind(const char *name, struct operator_options *options, struct err *err)
{
    static const char *const OTHERS[] = {"mpijob", "xgboostjob", "paddlejob", "jaxjob", "mxjob"};
    for (size_t i = 0; i < TRAINING_KIND_COUNT; i++) {
        if (!str_eq_nocase(name, TRAINING_KINDS[i]->row->singular))
            continue;
        for (size_t j = 0; j < options->kind_count; j++)
            if (options->kinds[j] == TRAINING_KINDS[i])
                return 0;
        options->kinds[options->kind_count++] = TRAINING_KINDS[i];
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(OTHERS); i++)
        if (str_eq_nocase(name, OTHERS[i])) {
            log_warning("operator", "--enable-scheme=%s: this operator does not run that kind",
                        name);
            return 0;
        }
    return err_set(err, ERR_USAGE, "--enable-scheme %s: must be tfjob or pytorchjob", name);
}

static int read_kinds(const struct operator_values *values, struct operator_options *options,
                      struct err *err)
{
    for (size_t i = 0; i < values->schemes.count; i++) {
        int result = add_kind(values->schemes.items[i], options, err);
        if (result < 0)
            return result;
    }
    for (size_t i = 0; values->schemes.count == 0 && i < TRAINING_KIND_COUNT; i++)
        options->kinds[options->kind_count++] = TRAINING_KINDS[i];
    if (options->kind_count == 0)
        return err_set(
            err, ERR_USAGE,
            "--enable-scheme names no kind that this operator runs: use tfjob or pytorchjob");
    return 0;
}

static int read_host_ports(const struct operator_values *values, struct operator_options *options,
                           struct err *err)
{
    struct err why = ERR_INIT;
    if (host_ports_parse_range(values->host_port_range, &options->host_port_first,
                               &options->host_port_last, &why) < 0)
        return err_set(err, ERR_USAGE, "--host-port-range: %s", why.message);
    return 0;
}

static void set_log(const struct operator_values *values)
{
    static const char *const LEVELS[] = {"error", "warning", "info", "debug"};
    enum log_level level = LOG_INFO;
    enum log_format format = str_eq(values->log_format, "json")   ? LOG_JSON
                             : str_eq(values->log_format, "text") ? LOG_TEXT
                                                                  : LOG_AUTO;
    for (size_t i = 0; i < ARRAY_SIZE(LEVELS); i++)
        if (str_eq(values->log_level, LEVELS[i]))
            level = (enum log_level)i;
    /* Zap levels are words or numbers; a higher number logs more. */
    if (str_eq(values->zap_level, "debug") || (values->zap_level && atoi(values->zap_level) > 0))
        level = LOG_DEBUG;
    else if (str_eq(values->zap_level, "error"))
        level = LOG_ERROR;
    log_setup(level, format);
}

static void warn_ignored(const struct operator_values *values)
{
    const struct {
        const char *name;
        bool given;
        const char *why;
    } ROWS[] = {
        {"webhook-server-port", values->webhook_port, "there is no webhook"},
        {"webhook-service-name", values->webhook_service, "there is no webhook"},
        {"webhook-secret-name", values->webhook_secret, "there is no webhook"},
        {"pytorch-init-container-image", values->init_image, "there is no init container"},
        {"pytorch-init-container-template-file", values->init_template,
         "there is no init container"},
        {"pytorch-init-container-max-tries", values->init_tries, "there is no init container"},
        {"mpi-kubectl-delivery-image", values->mpi_image, "MPIJobs are not supported"},
        {"zap-devel", values->zap_devel, "see --log-format and --log-level"},
        {"zap-encoder", values->zap_encoder, "see --log-format"},
        {"zap-stacktrace-level", values->zap_stacktrace, "there are no stack traces"},
        {"zap-time-encoding", values->zap_time, "times are RFC 3339"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        if (ROWS[i].given)
            log_info("operator", "--%s has no effect here: %s", ROWS[i].name, ROWS[i].why);
}

/* Creates an identity that no earlier process had. Otherwise a restarted process would treat the
 * lease of its killed predecessor as its own. */
static const char *make_identity(struct arena *arena)
{
    const char *pod = getenv("POD_NAME");
    char host[256] = "", uuid[37];
    if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
        str_copy(host, sizeof(host), "operator");
    rand_uuid(uuid);
    return arena_printf(arena, "%s_%s", str_is_empty(pod) ? host : pod, uuid);
}

static int check_address(struct arena *arena, const char *option, const char *text, struct err *err)
{
    const char *host;
    int port;
    int result = operator_server_parse(arena, text, &host, &port, err);
    return result < 0 ? err_wrap(err, "--%s", option) : 0;
}

/* Returns whether Kubeflow's operator accepts this level. A missing level is accepted. */
static bool is_zap_level(const char *text)
{
    static const char *const WORDS[] = {"debug", "info", "error", "panic"};
    for (size_t i = 0; text && i < ARRAY_SIZE(WORDS); i++)
        if (str_eq(text, WORDS[i]))
            return true;
    int64_t number;
    return !text || str_to_int64(text, 1, INT32_MAX, &number, NULL) == 0;
}

static int operator_check(struct arena *arena, const struct operator_values *values,
                          struct err *err)
{
    bool all = str_is_empty(values->namespace_) || str_eq(values->namespace_, "all");
    if (!all && !str_is_dns_label(values->namespace_))
        return err_set(err, ERR_USAGE,
                       "--namespace '%s': must be the name of a namespace, or 'all'",
                       values->namespace_);
    if (values->rate < 0)
        return err_set(err, ERR_USAGE, "--kube-api-qps %g: must be 0 (no limit) or more",
                       values->rate);
    if (!str_is_empty(values->cluster_domain) && !str_is_dns_subdomain(values->cluster_domain))
        return err_set(err, ERR_USAGE,
                       "--cluster-domain '%s': must be a domain name such as cluster.local",
                       values->cluster_domain);
    if (!is_zap_level(values->zap_level))
        return err_set(
            err, ERR_USAGE,
            "--zap-log-level '%s': must be debug, info, error, panic or a number above 0",
            values->zap_level);
    if (!str_is_dns_subdomain(values->lease_name))
        return err_set(err, ERR_USAGE,
                       "--leader-election-id '%s': must be a valid object name (lower case "
                       "letters, digits, '-' and '.')",
                       values->lease_name);
    int result = check_address(arena, "metrics-bind-address", values->metrics_address, err);
    if (result == 0)
        result = check_address(arena, "health-probe-bind-address", values->health_address, err);
    return result;
}

static int operator_run(const void *parsed, size_t count, const char *const *arguments,
                        struct err *err)
{
    (void)count, (void)arguments;
    const struct operator_values *values = parsed;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct operator_options options = {
        .cluster_domain = str_is_empty(values->cluster_domain) ? NULL : values->cluster_domain,
        .gang_scheduler = str_is_empty(values->gang_scheduler) ? NULL : values->gang_scheduler,
        .workers =
            (size_t)(values->controller_threads ? values->controller_threads : values->workers),
        .rate = values->rate,
        .burst = (size_t)values->burst,
        .elect = values->elect,
        .lease_name = values->lease_name,
        .identity = make_identity(arena),
        .metrics_address = values->metrics_address,
        .health_address = values->health_address,
    };
    if (!str_is_empty(values->namespace_) && !str_eq(values->namespace_, "all"))
        options.namespace_ = values->namespace_;
    set_log(values);
    int result = operator_check(arena, values, err);
    if (result == 0)
        result = read_kinds(values, &options, err);
    if (result == 0)
        result = read_host_ports(values, &options, err);
    if (result == 0)
        result = kubeconfig_find(arena, values->kubeconfig, values->context, &options.config, err);
    if (result == 0)
        result = kubeconfig_authenticate(arena, &options.config, true, err);
    if (result < 0)
        return result;
    options.lease_namespace =
        str_is_empty(values->lease_namespace) ? options.config.namespace_ : values->lease_namespace;
    warn_ignored(values);
    log_info("operator", "trainyard %s is starting: server %s, %s", TRAINYARD_VERSION,
             options.config.server,
             options.elect ? "with leader election" : "without leader election");
    return operator_process_run(&options, err);
}

#define ROW(option_name, option_type, field, ...)                                                  \
    {                                                                                              \
        .name = option_name, .type = option_type,                                                  \
        .offset = offsetof(struct operator_values, field), __VA_ARGS__                             \
    }
#define IGNORED(option_name, field)                                                                \
    ROW(option_name, OPTION_STRING, field, .value = "…",                                           \
        .help = "option of Kubeflow's training operator; accepted without effect")

static const struct option OPTIONS[] = {
    ROW("kubeconfig", OPTION_STRING, kubeconfig, .value = "FILE",
        .help = "how to reach the cluster (default: $KUBECONFIG, ~/.kube/config, and in a pod its "
                "service account)"),
    ROW("context", OPTION_STRING, context, .value = "NAME",
        .help = "the context of the kubeconfig (default: its current one)"),
    ROW("namespace", OPTION_STRING, namespace_, .environment = "KUBEFLOW_NAMESPACE",
        .value = "NS|all", .help = "the only namespace whose jobs are run (default: all)"),
    ROW("enable-scheme", OPTION_LIST, schemes, .value = "KIND",
        .help = "run this kind, tfjob or pytorchjob (default: both)"),
    ROW("workers", OPTION_INT, workers, .fallback = "32", .min = 1, .max = 1000, .value = "N",
        .help = "number of jobs per kind that are reconciled at the same time"),
    ROW("controller-threads", OPTION_INT, controller_threads, .min = 0, .max = 1000, .value = "N",
        .help = "the same as --workers, under the name of Kubeflow's operator; takes precedence"),
    ROW("kube-api-qps", OPTION_REAL, rate, .fallback = "0", .value = "N",
        .help = "maximum number of requests per second; 0 means no limit except 24 requests in "
                "flight and the pauses that the server asks for"),
    ROW("kube-api-burst", OPTION_INT, burst, .fallback = "0", .min = 0, .max = 1000000,
        .value = "N",
        .help = "requests that may be sent at once after an idle time; 0 means as many as "
                "--kube-api-qps"),
    ROW("leader-elect", OPTION_FLAG, elect,
        .help =
            "acquire a Lease and work only while holding it, so that several operators may run"),
    ROW("leader-election-id", OPTION_STRING, lease_name, .fallback = "trainyard-operator",
        .value = "NAME", .help = "name of the Lease"),
    ROW("leader-election-namespace", OPTION_STRING, lease_namespace,
        .environment = "MY_POD_NAMESPACE", .value = "NS",
        .help = "namespace of the Lease (default: that of the pod or of the context)"),
    ROW("gang-scheduler-name", OPTION_STRING, gang_scheduler, .value = "NAME",
        .help = "create a PodGroup for each job: 'volcano', or the name of a scheduler with the "
                "scheduler-plugins"),
    ROW("cluster-domain", OPTION_STRING, cluster_domain, .environment = "CUSTOM_CLUSTER_DOMAIN",
        .value = "DOMAIN",
        .help = "domain to append to the host names in TF_CONFIG, such as cluster.local"),
    ROW("host-port-range", OPTION_STRING, host_port_range, .fallback = "20000-29999",
        .value = "FIRST-LAST",
        .help = "node ports for replicas with hostNetwork, one per replica; operators of several "
                "namespaces need separate ranges"),
    ROW("metrics-bind-address", OPTION_STRING, metrics_address, .fallback = ":8080",
        .value = "HOST:PORT", .help = "address that serves /metrics over plain HTTP; 0: none"),
    ROW("health-probe-bind-address", OPTION_STRING, health_address, .fallback = ":8081",
        .value = "HOST:PORT", .help = "address that serves /healthz and /readyz; 0: none"),
    ROW("log-format", OPTION_CHOICE, log_format, .fallback = "auto", .choices = "auto|text|json",
        .value = "FORMAT",
        .help = "format of the log on stderr; auto is text on a terminal, else JSON"),
    ROW("log-level", OPTION_CHOICE, log_level, .fallback = "info",
        .choices = "error|warning|info|debug", .value = "LEVEL", .help = "how much is logged"),
    ROW("zap-log-level", OPTION_STRING, zap_level, .value = "LEVEL",
        .help = "option of Kubeflow's training operator: debug or a number above 0 means "
                "--log-level debug, and error means --log-level error"),
    ROW("zap-devel", OPTION_FLAG, zap_devel,
        .help = "option of Kubeflow's training operator; accepted without effect"),
    IGNORED("zap-encoder", zap_encoder),
    IGNORED("zap-stacktrace-level", zap_stacktrace),
    IGNORED("zap-time-encoding", zap_time),
    IGNORED("webhook-server-port", webhook_port),
    IGNORED("webhook-service-name", webhook_service),
    IGNORED("webhook-secret-name", webhook_secret),
    IGNORED("pytorch-init-container-image", init_image),
    IGNORED("pytorch-init-container-template-file", init_template),
    IGNORED("pytorch-init-container-max-tries", init_tries),
    IGNORED("mpi-kubectl-delivery-image", mpi_image),
    {0},
};

const struct command COMMAND_OPERATOR = {
    .name = "operator",
    .summary = "run TFJobs and PyTorchJobs in any Kubernetes",
    .description =
        "Runs the controllers that 'trainyard up' has built in against another cluster, as a "
        "process on this machine or as a pod (manifests/install.yaml). It takes the options of "
        "Kubeflow's training operator, with one dash or two.\n\n"
        "It waits for the API server and for the definitions of the kinds, and logs what it waits "
        "for. With --leader-elect several operators may run, and one of them works; an operator "
        "that loses the lease stops at once and stands by. SIGTERM finishes the calls in flight "
        "and releases the lease.",
    .examples = "trainyard operator --kubeconfig ~/.kube/config --namespace team-a\n"
                "trainyard operator --leader-elect --gang-scheduler-name volcano",
    .options = OPTIONS,
    .single_dash = true,
    .values_size = sizeof(struct operator_values),
    .run = operator_run,
};
