/* Runs the operator process; see operator_process.h. Two transports share the connections of
 * `client`. Calls of the controllers use `throttled`, with the limits of the options `rate` and
 * `burst`. Leader election and the health check use `unthrottled`, because a delayed renewal would
 * lose the lease. */
#include "cli/trainyard/operator_process.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/trainyard/operator_server.h"
#include "kube/client/exec_renewal.h"
#include "kube/client/leader.h"
#include "loop/signals.h"
#include "net/http/client.h"
#include "net/http/throttle.h"
#include "operator/controller/controller.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS_MAX = 24,          /* limit of calls of the controllers in flight */
    PROBE_WAITING_MS = 2000, /* interval of the health check while the API server cannot be used */
    PROBE_MS = 10 * 1000,    /* interval of the health check otherwise */
    PROBE_TIMEOUT_MS = 8000,
    PROBE_ANSWER_MAX = 64 * 1024,
    WAIT_CHECK_MS = 1000, /* interval of on_wait_check() */
    TRIM_MS = 60 * 1000,
    DRAIN_MS = 5000,  /* limit for finishing the calls in flight at the end */
    RESIGN_MS = 5000, /* limit for releasing the lease at the end */
};

static const char SUBJECT[] = "operator";

struct operator_process {
    const struct operator_options *options;
    struct loop *loop;
    struct loop_signals *signals;
    struct prometheus *metrics;
    struct prometheus_metric *leader_gauge;
    struct http_transport *client, *unthrottled, *throttled;
    struct exec_renewal *renewal; /* renews the credential of an exec plugin; NULL: no plugin */
    struct operator_server *server;

    struct http_call *probe; /* the health check in flight, or NULL */
    struct loop_timer probe_timer;
    int probe_status;
    struct buf probe_answer;
    char *trouble; /* why the API server cannot be used; NULL: it can be used */
    bool begun;    /* the API server could be used at least once */

    struct kube_leader *leader; /* NULL: no election, or not started yet */
    struct host_ports *host_ports;
    struct training_controller
        *controllers[OPERATOR_KINDS_MAX];   /* NULL: the controllers do not run */
    char *wait_reasons[OPERATOR_KINDS_MAX]; /* by controller: the last logged reason why it waits */
    bool working;                           /* the controllers run */
    struct loop_timer wait_check_timer;
    struct loop_timer trim_timer;

    bool ending;  /* a signal has requested the end */
    bool drained; /* the calls in flight have ended or were cancelled */
    struct loop_timer end_timer;
};

/* ---- The controllers ------------------------------------------------------------------------- */

/* Returns the reason why a controller waits, or NULL if it works. The caller frees it. */
static char *waiting_text(const struct operator_process *process, const struct training_kind *kind,
                          const struct training_controller *controller)
{
    const struct training_controller_view view = training_controller_inspect(controller);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    if (!view.waits_for)
        return NULL;
    const char *resource = kube_resource_text(arena, view.waits_for);
    if (!view.failure)
        return mem_printf("waits for the list of %s", resource);
    if (view.failure->code == ERR_NOT_FOUND && view.waits_for == kind->resource)
        return mem_printf("the server does not serve %s (%s): install the definitions with "
                          "'kubectl apply -f install.yaml'; looking again every half minute",
                          resource, view.waits_for->version);
    if (view.failure->code == ERR_UNAUTHORIZED)
        return mem_printf("waits for the list of %s: %s: %s", resource, view.failure->message,
                          kubeconfig_rejection_text(arena, &process->options->config));
    return mem_printf("waits for the list of %s: %s", resource, view.failure->message);
}

/* Returns whether the controller waits because the server does not know the kind. */
static bool kind_is_missing(const struct training_kind *kind,
                            const struct training_controller *controller)
{
    const struct training_controller_view view = training_controller_inspect(controller);
    return view.waits_for == kind->resource && view.failure && view.failure->code == ERR_NOT_FOUND;
}

/* Logs for each controller why it waits, once per reason, and when it starts to work. The wait for
 * the first list is logged only if it takes longer than WAIT_CHECK_MS. */
static void on_wait_check(struct loop_timer *timer)
{
    struct operator_process *process =
        CONTAINER_OF(timer, struct operator_process, wait_check_timer);
    for (size_t i = 0; i < process->options->kind_count; i++) {
        const struct training_kind *kind = process->options->kinds[i];
        char *text = waiting_text(process, kind, process->controllers[i]);
        bool refused = text && training_controller_inspect(process->controllers[i]).failure;
        if (text && !str_eq(text, process->wait_reasons[i]))
            log_write(refused ? LOG_WARNING : LOG_INFO, kind->controller_name, "%s", text);
        if (!text && process->wait_reasons[i]) {
            const struct training_controller_view view =
                training_controller_inspect(process->controllers[i]);
            log_info(kind->controller_name, "works: %zu jobs, %zu pods, %zu services", view.jobs,
                     view.pods, view.services);
        }
        free(process->wait_reasons[i]);
        process->wait_reasons[i] = text;
    }
    loop_timer_start(timer, WAIT_CHECK_MS);
}

static void start_working(struct operator_process *process)
{
    const struct operator_options *options = process->options;
    struct training_controller_options each = {
        .namespace_ = options->namespace_,
        .cluster_domain = options->cluster_domain,
        .gang_scheduler = options->gang_scheduler,
        .jobs_max = options->workers,
        .metrics = process->metrics,
    };
    each.host_ports = process->host_ports =
        host_ports_new(options->host_port_first, options->host_port_last);
    for (size_t i = 0; i < options->kind_count; i++) {
        process->controllers[i] =
            training_controller_new(process->loop, process->throttled, options->kinds[i], &each);
        process->wait_reasons[i] = mem_strdup("");
        log_info(options->kinds[i]->controller_name, "started, for %s%s",
                 options->namespace_ ? "namespace " : "all namespaces",
                 options->namespace_ ? options->namespace_ : "");
    }
    process->working = true;
    prometheus_set(process->leader_gauge, 1, options->lease_name, NULL);
    loop_timer_start(&process->wait_check_timer, WAIT_CHECK_MS);
}

/* Stops the controllers at once and cancels calls in flight. The next leader reads their effects
 * from the API server. */
static void stop_working(struct operator_process *process)
{
    if (!process->working)
        return;
    process->working = false;
    prometheus_set(process->leader_gauge, 0, process->options->lease_name, NULL);
    loop_timer_stop(&process->wait_check_timer);
    for (size_t i = 0; i < process->options->kind_count; i++) {
        process->controllers[i] = training_controller_free(process->controllers[i]);
        free(TAKE(process->wait_reasons[i]));
    }
    process->host_ports = host_ports_free(process->host_ports);
}

/* ---- The election ---------------------------------------------------------------------------- */

static void on_lead(void *context)
{
    struct operator_process *process = context;
    if (process->ending)
        return; /* the process is shutting down and releases the lease soon */
    log_info(SUBJECT, "is the leader: holds the lease %s/%s", process->options->lease_namespace,
             process->options->lease_name);
    start_working(process);
}

static void on_lose(void *context, const char *why)
{
    struct operator_process *process = context;
    stop_working(process);
    log_error(SUBJECT, "lost the lease: %s; standing by", why);
}

static void on_leader_message(void *context, bool trouble, const char *sentence)
{
    log_write(trouble ? LOG_WARNING : LOG_INFO, SUBJECT, "%s", sentence);
}

static void process_begin(struct operator_process *process)
{
    static const struct kube_leader_listener LISTENER = {on_lead, on_lose, on_leader_message};
    const struct operator_options *options = process->options;
    struct kube_leader_options election = {
        .namespace_ = options->lease_namespace,
        .name = options->lease_name,
        .identity = options->identity,
    };
    process->begun = true;
    if (options->elect)
        process->leader =
            kube_leader_new(process->loop, process->unthrottled, &election, &LISTENER, process);
    else
        start_working(process);
}

/* ---- The health check of the API server ------------------------------------------------------ */

static void on_probe_head(void *context, int status, const struct http_header *headers)
{
    ((struct operator_process *)context)->probe_status = status;
}

static void on_probe_data(void *context, const void *data, size_t size)
{
    buf_append(&((struct operator_process *)context)->probe_answer, data, size);
}

static void log_version(struct operator_process *process)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *version = NULL;
    const struct buf *answer = &process->probe_answer;
    if (json_parse(arena, answer->data, answer->size, NULL, &version, NULL) < 0)
        version = NULL;
    log_info(SUBJECT, "the API server %s answers, version %s", process->options->config.server,
             json_get_string(version, "gitVersion", "unknown"));
}

static char *refusal_text(const struct operator_process *process)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return mem_printf("the API server %s rejects the credentials (401 Unauthorized): %s",
                      process->options->config.server,
                      kubeconfig_rejection_text(arena, &process->options->config));
}

static void on_probe_end(void *context, const struct err *err)
{
    struct operator_process *process = context;
    const char *server = process->options->config.server;
    char *trouble = NULL;
    process->probe = NULL;
    if (process->ending)
        return;
    /* A status other than 401, 429 and 5xx means that the API server can be used. 403 does, too,
     * because the controllers report missing permissions themselves. */
    if (err)
        trouble = mem_printf("waits for the API server %s: %s", server, err->message);
    else if (process->probe_status == 401)
        trouble = refusal_text(process);
    else if (process->probe_status >= 500 || process->probe_status == 429)
        trouble = mem_printf("waits for the API server %s: it answers with status %d", server,
                             process->probe_status);
    if (trouble && !str_eq(trouble, process->trouble))
        log_warning(SUBJECT, "%s", trouble);
    if (!trouble && process->trouble && process->begun)
        log_info(SUBJECT, "the API server answers again");
    free(process->trouble);
    process->trouble = trouble;
    loop_timer_start(&process->probe_timer, trouble ? PROBE_WAITING_MS : PROBE_MS);
    if (!trouble && !process->begun) {
        log_version(process);
        process_begin(process);
    }
}

static void on_probe_timer(struct loop_timer *timer)
{
    static const struct http_callbacks LISTENER = {on_probe_head, on_probe_data, on_probe_end};
    struct operator_process *process = CONTAINER_OF(timer, struct operator_process, probe_timer);
    struct http_request request = {.method = "GET", .path = "/version", .query = ""};
    process->probe_status = 0;
    buf_clear(&process->probe_answer);
    process->probe =
        http_start(process->unthrottled, &request, PROBE_TIMEOUT_MS, &LISTENER, process);
}

/* Implements is_ready of operator_server_options. A process that stands by is ready. */
static bool is_ready(void *context, struct buf *sentence)
{
    struct operator_process *process = context;
    size_t works = 0, waits = 0;
    if (process->ending || process->trouble || !process->begun) {
        buf_append_str(sentence, process->ending    ? "ends"
                                 : process->trouble ? process->trouble
                                                    : "starts");
        return false;
    }
    if (!process->working) {
        const char *holder = kube_leader_holder(process->leader);
        buf_printf(sentence, "stands by: %s is the leader", *holder ? holder : "no known process");
        return true;
    }
    for (size_t i = 0; i < process->options->kind_count; i++) {
        const struct training_kind *kind = process->options->kinds[i];
        _cleanup_free_ char *text = waiting_text(process, kind, process->controllers[i]);
        buf_printf(sentence, "%s%s: %s", i ? "\n" : "", kind->controller_name,
                   text ? text : "works");
        works += !text;
        /* A kind that is not installed does not make the operator unready. */
        waits += text && !kind_is_missing(kind, process->controllers[i]);
    }
    return works > 0 && waits == 0;
}

/* Returns free memory to the system, because the first lists and jobs with many replicas need much
 * memory for a short time. */
static void on_trim(struct loop_timer *timer)
{
    mem_trim();
    loop_timer_start(timer, TRIM_MS);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void stop_loop(void *context)
{
    loop_stop(((struct operator_process *)context)->loop);
}

static void on_resigned(void *context)
{
    log_info(SUBJECT, "shut down");
    stop_loop(context);
}

static void on_drained(void *context)
{
    struct operator_process *process = context;
    if (process->drained)
        return; /* the timer has already cancelled the calls */
    process->drained = true;
    stop_working(process);
    loop_timer_start(&process->end_timer, RESIGN_MS);
    if (process->leader)
        kube_leader_resign(process->leader, on_resigned);
    else
        on_resigned(process);
}

/* Called when finishing the calls in flight, or releasing the lease, has taken too long. */
static void on_end_timer(struct loop_timer *timer)
{
    struct operator_process *process = CONTAINER_OF(timer, struct operator_process, end_timer);
    if (process->working) {
        log_warning(SUBJECT, "calls are still in flight after %d s: cancelling them",
                    DRAIN_MS / 1000);
        on_drained(process);
        return;
    }
    log_warning(SUBJECT, "cannot release the lease: it expires by itself");
    stop_loop(process);
}

static void on_operator_signal(void *context, int signal)
{
    struct operator_process *process = context;
    if (process->ending) {
        loop_stop(process->loop);
        return;
    }
    log_info(SUBJECT, "%s: finishing the calls in flight, then exiting",
             signal == SIGINT ? "Ctrl-C" : "SIGTERM");
    process->ending = true;
    loop_timer_stop(&process->probe_timer);
    loop_timer_start(&process->end_timer, DRAIN_MS);
    http_throttle_drain(process->throttled, on_drained, process);
}

/* ---- The credentials of an exec plugin ------------------------------------------------------- */

static void on_renewed(void *context, const struct exec_credential *credential,
                       const struct err *err)
{
    const struct operator_process *process = context;
    if (!credential) {
        log_warning(SUBJECT, "%s; the plugin is run again later", err->message);
        return;
    }
    log_debug(SUBJECT, "the credential plugin gave a new credential");
    http_client_set_credential(process->client, credential->token, credential->cert_pem,
                               credential->key_pem);
}

static void on_unauthorized(void *context)
{
    const struct operator_process *process = context;
    if (process->renewal)
        exec_renewal_rejected(process->renewal);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static int open_transports(struct operator_process *process, struct err *err)
{
    const struct operator_options *options = process->options;
    const struct kubeconfig *config = &options->config;
    struct http_client_options client = {
        .base_url = config->server,
        .ca_pem = config->ca_pem,
        .cert_pem = config->cert_pem,
        .key_pem = config->key_pem,
        .cert_file = config->cert_file,
        .key_file = config->key_file,
        .bearer = config->token,
        .bearer_file = config->token_file,
        .username = config->username,
        .password = config->password,
        .server_name = config->server_name,
        .proxy = config->proxy,
        .headers = config->as,
        .insecure = config->insecure,
        .on_unauthorized = on_unauthorized,
        .context = process,
    };
    struct http_throttle_options limits = {
        .rate = options->rate,
        .burst = options->burst,
        .calls_max = CALLS_MAX,
        .metrics = process->metrics,
    };
    struct http_throttle_options none = {.metrics = process->metrics};
    int result = http_client_new(process->loop, &client, &process->client, err);
    if (result < 0)
        return result;
    if (config->exec)
        process->renewal =
            exec_renewal_new(process->loop, config->exec, config->expires_ms, on_renewed, process);
    process->unthrottled = http_throttle_new(process->loop, process->client, &none);
    process->throttled = http_throttle_new(process->loop, process->client, &limits);
    return 0;
}

static int open_server(struct operator_process *process, struct err *err)
{
    struct operator_server_options server = {
        .metrics_address = process->options->metrics_address,
        .health_address = process->options->health_address,
        .metrics = process->metrics,
        .is_ready = is_ready,
        .context = process,
    };
    return operator_server_new(process->loop, &server, &process->server, err);
}

static void close_process(struct operator_process *process)
{
    stop_working(process);
    kube_leader_free(process->leader);
    loop_timer_stop(&process->probe_timer);
    loop_timer_stop(&process->trim_timer);
    loop_timer_stop(&process->end_timer);
    if (process->probe)
        http_cancel(process->unthrottled, process->probe);
    http_transport_free(process->throttled);
    http_transport_free(process->unthrottled);
    exec_renewal_free(process->renewal);
    http_transport_free(process->client);
    if (process->server) {
        operator_server_close(process->server, stop_loop, process);
        loop_run(process->loop);
    }
    loop_signals_free(process->signals);
    loop_free(process->loop);
    prometheus_free(process->metrics);
    buf_release(&process->probe_answer);
    free(process->trouble);
}

int operator_process_run(const struct operator_options *options, struct err *err)
{
    mem_return_large_blocks();
    struct operator_process process = {.options = options, .metrics = prometheus_new()};
    int result = loop_new(&process.loop, err);
    if (result < 0) {
        prometheus_free(process.metrics);
        return result;
    }
    buf_init(&process.probe_answer, PROBE_ANSWER_MAX);
    loop_timer_init(process.loop, &process.probe_timer, on_probe_timer);
    loop_timer_init(process.loop, &process.wait_check_timer, on_wait_check);
    loop_timer_init(process.loop, &process.end_timer, on_end_timer);
    loop_timer_init(process.loop, &process.trim_timer, on_trim);
    process.leader_gauge =
        prometheus_gauge(process.metrics, "leader_election_master_status",
                         "1 if this process is the leader, 0 if it stands by", "name");
    prometheus_set(process.leader_gauge, 0, options->lease_name, NULL);
    result = open_transports(&process, err);
    if (result == 0)
        result = open_server(&process, err);
    if (result == 0)
        result =
            loop_signals_new(process.loop, on_operator_signal, &process, &process.signals, err);
    if (result == 0) {
        loop_timer_start(&process.probe_timer, 0);
        loop_timer_start(&process.trim_timer, TRIM_MS);
        loop_run(process.loop);
    }
    close_process(&process);
    return result;
}
