/* Writes the API server's metrics; see metrics.h. Each value is read from its counter when a client
 * requests the metrics, so no registry of metrics is needed. */
#include "engine/metrics.h"

#include "base/mem.h"
#include "net/http/prometheus.h"

enum { TEXT_MAX = 64 * 1024 };

/* Adds the value for the memory of watches and, if `http` is not NULL, of HTTP requests. */
static void metrics_add(struct prometheus_metric *metric, const struct budget *watches,
                        const struct budget *http, double (*value)(const struct budget *budget))
{
    prometheus_add(metric, value(watches), "watches", NULL);
    if (http)
        prometheus_add(metric, value(http), "http", NULL);
}

static double value_used(const struct budget *budget)
{
    return (double)budget->used;
}

static double value_max(const struct budget *budget)
{
    return (double)budget->max;
}

static double value_peak(const struct budget *budget)
{
    return (double)budget->peak;
}

/* Adds a histogram of the times of all turns, and a gauge with the longest time. */
static void add_turns(struct prometheus *metrics, const char *what, const char *help,
                      const char *longest_help, const struct loop_turn_histogram *turns)
{
    _cleanup_free_ char *name = mem_printf("trainyard_loop_turn_%s_seconds", what);
    _cleanup_free_ char *longest = mem_printf("trainyard_loop_turn_%s_longest_seconds", what);
    prometheus_set_buckets(
        prometheus_histogram(metrics, name, help, NULL, LOOP_TURN_BOUNDS_S, LOOP_TURN_BOUNDS),
        turns->buckets, turns->sum_s);
    prometheus_set(prometheus_gauge(metrics, longest, longest_help, NULL), turns->longest_s, NULL);
}

static void add_client_memory(struct prometheus *metrics, const struct watch_events *watches,
                              const struct budget_group *http)
{
    const struct budget *events = watch_events_budget(watches), *total = http ? &http->total : NULL;
    static const struct {
        const char *name, *help;
        double (*value)(const struct budget *budget);
    } gauges[] = {
        {"trainyard_client_memory_bytes",
         "Bytes kept for clients: requests and unread answers (http), unread events (watches).",
         value_used},
        {"trainyard_client_memory_max_bytes", "The limit of trainyard_client_memory_bytes.",
         value_max},
        {"trainyard_client_memory_peak_bytes",
         "Largest value of trainyard_client_memory_bytes since the server started.", value_peak},
    };
    for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
        metrics_add(prometheus_gauge(metrics, gauges[i].name, gauges[i].help, "of"), events, total,
                    gauges[i].value);
    if (http)
        prometheus_add(
            prometheus_gauge(metrics, "trainyard_client_memory_payers",
                             "Users and client addresses for which the server keeps memory.", NULL),
            (double)http->payers.count, NULL);
    prometheus_add(
        prometheus_counter(metrics, "trainyard_watches_expired_total",
                           "Watches that were ended because their clients read too slowly.", NULL),
        (double)watch_events_ended(watches), NULL);
}

void engine_metrics_answer(struct http_exchange *exchange, const struct loop_turns *turns,
                           const struct watch_events *watches, const struct budget_group *http)
{
    _cleanup_(cleanup_prometheus) struct prometheus *metrics = prometheus_new();
    _cleanup_buf_ struct buf text;
    static const struct loop_turns none;
    if (!turns)
        turns = &none;
    add_turns(metrics, "cpu", "CPU time of the loop thread per turn of the event loop.",
              "Largest CPU time of a turn since the server started.", &turns->cpu);
    add_turns(metrics, "wall",
              "Elapsed time per turn of the event loop, without the wait for events.",
              "Largest elapsed time of a turn since the server started.", &turns->wall);
    add_client_memory(metrics, watches, http);
    buf_init(&text, TEXT_MAX);
    prometheus_write(metrics, &text);
    http_respond(exchange, 200, PROMETHEUS_CONTENT_TYPE, text.data, text.size);
}
