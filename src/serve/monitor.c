/* Implements the monitor of a training run; see monitor.h. */
#include "serve/monitor.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/thread.h"
#include "loop/loop.h"
#include "net/http/prometheus.h"
#include "net/http/server.h"
#include "serve/page.h"

#include <math.h>
#include <pthread.h>

enum { CONNECTIONS_MAX = 64, BODY_MAX = 4096, METRICS_MAX = 64 << 10 };

struct monitor {
    struct loop *loop;
    struct http_server *server;
    struct run_state *state;
    struct loop_task stop;
    pthread_t thread;
};

/* ---- Responses */

static void put_metric(struct prometheus *registry, const char *name, const char *help,
                       double value)
{
    if (!isfinite(value))
        return; /* NaN or infinity: the value is not known */
    if (str_has_suffix(name, "_total"))
        prometheus_add(prometheus_counter(registry, name, help, NULL), value, NULL);
    else
        prometheus_set(prometheus_gauge(registry, name, help, NULL), value, NULL);
}

void monitor_write_metrics(const struct run_state_view *view, struct buf *text)
{
    _cleanup_(cleanup_prometheus) struct prometheus *all = prometheus_new();
    put_metric(all, "trainer_step", "The last completed step.", (double)view->step);
    put_metric(all, "trainer_steps", "Number of steps of the whole run.", (double)view->total);
    if (view->epoch > 0)
        put_metric(all, "trainer_epoch", "Passes over the data.", view->epoch);
    put_metric(all, "trainer_loss", "Loss of the last step.", view->loss);
    put_metric(all, "trainer_accuracy",
               "Accuracy on the pictures of the last step, or on held-out ones.", view->accuracy);
    put_metric(all, "trainer_examples_per_second", "Examples per second of all workers, smoothed.",
               view->rate);
    put_metric(all, "trainer_examples_total", "Examples of all workers since this process started.",
               (double)view->examples);
    put_metric(all, "trainer_worker_losses_total",
               "Number of times that workers were lost since this process started.",
               (double)view->losses);
    put_metric(all, "trainer_checkpoints_total", "Checkpoints written since this process started.",
               (double)view->saves);
    put_metric(all, "trainer_checkpoint_failures_total", "Checkpoints that could not be written.",
               (double)view->failed_saves);
    put_metric(all, "trainer_checkpoint_step", "Step of the last checkpoint, 0 before the first.",
               (double)view->saved);
    put_metric(all, "trainer_waiting", "1 while this process waits for other processes, else 0.",
               view->waiting_for[0] ? 1 : 0);
    put_metric(all, "trainer_waiting_seconds_total", "Seconds spent waiting for other processes.",
               view->waited);
    struct prometheus_metric *late = prometheus_counter(
        all, "trainer_waited_seconds_total",
        "Seconds this worker waited for a slower worker, per slower worker.", "for");
    for (size_t i = 0; i < view->late_count; i++)
        prometheus_add(late, view->late[i].seconds, view->late[i].task, NULL);
    prometheus_write(all, text);
}

static void answer_metrics(struct http_exchange *exchange, const struct run_state_view *view)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, METRICS_MAX);
    monitor_write_metrics(view, &text);
    http_respond(exchange, 200, PROMETHEUS_CONTENT_TYPE, text.data, text.size);
}

static void handle_request(struct http_exchange *exchange, void *context)
{
    struct monitor *monitor = context;
    const struct http_request *request = exchange->request;
    struct run_state_view view;
    if (!str_eq(request->method, "GET") && !str_eq(request->method, "HEAD")) {
        page_respond_refusal(exchange, ERR_METHOD, "only GET is supported here");
        return;
    }
    run_state_read(monitor->state, moment_monotonic_ns(), &view);
    if (str_eq(request->path, "/progress"))
        page_respond_json(exchange, 200, run_state_document(exchange->arena, &view));
    else if (str_eq(request->path, "/metrics"))
        answer_metrics(exchange, &view);
    else if (str_eq(request->path, "/healthz"))
        http_respond(exchange, 200, "text/plain; charset=utf-8", "ok\n", 3);
    else
        page_respond_refusal(exchange, ERR_NOT_FOUND,
                             "there is nothing here: use /progress, /metrics or /healthz");
}

/* ---- The thread */

static void on_monitor_closed(void *context)
{
    struct monitor *monitor = context;
    loop_stop(monitor->loop);
}

static void on_stop(struct loop_task *task)
{
    struct monitor *monitor = CONTAINER_OF(task, struct monitor, stop);
    http_server_close(monitor->server, on_monitor_closed, monitor);
}

static void *monitor_run(void *context)
{
    struct monitor *monitor = context;
    loop_run(monitor->loop);
    return NULL;
}

int monitor_start(const char *address, int port, struct run_state *state, struct monitor **ret,
                  int *ret_port, struct err *err)
{
    struct monitor *monitor = mem_zalloc(sizeof(*monitor));
    *monitor = (struct monitor){.state = state, .stop = {.callback = on_stop}};
    struct http_server_options options = {.body_max = BODY_MAX, .connections_max = CONNECTIONS_MAX};
    int result = http_listen(address, port, &options.listen_fd, ret_port, err);
    if (result < 0) {
        free(monitor);
        return result;
    }
    result = loop_new(&monitor->loop, err);
    if (result == 0)
        result = http_server_new(monitor->loop, &options, handle_request, monitor, &monitor->server,
                                 err);
    if (result < 0)
        close(options.listen_fd);
    if (result == 0)
        result = thread_start(&monitor->thread, "monitor", "the thread of the monitor", monitor_run,
                              monitor, err);
    if (result == 0) {
        *ret = monitor;
        return 0;
    }
    if (monitor->server) {
        http_server_close(monitor->server, on_monitor_closed, monitor);
        loop_run(monitor->loop);
    }
    loop_free(monitor->loop);
    free(monitor);
    return result;
}

struct monitor *monitor_stop(struct monitor *monitor)
{
    if (!monitor)
        return NULL;
    loop_post(monitor->loop, &monitor->stop);
    pthread_join(monitor->thread, NULL);
    loop_free(monitor->loop);
    free(monitor);
    return NULL;
}
