/* Counters, gauges and histograms, written in the text format of Prometheus (exposition format
 * 0.0.4).
 *
 * All functions must run on one thread. If the registry or the metric is NULL, they do nothing and
 * return NULL, so that callers need not check whether metrics are enabled. Metrics are sorted by
 * name and series by label values, so that the output is always in the same order. */
#ifndef TRAINYARD_NET_HTTP_PROMETHEUS_H
#define TRAINYARD_NET_HTTP_PROMETHEUS_H

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Limits of one metric. Label values come from users (namespaces), so the number of series is
 * limited. Beyond the limit, all new label values share one series whose labels are all "other". */
enum { PROMETHEUS_SERIES_MAX = 1000, PROMETHEUS_LABELS_MAX = 4, PROMETHEUS_BOUNDS_MAX = 24 };

struct prometheus;
struct prometheus_metric;

struct prometheus *prometheus_new(void);
struct prometheus *prometheus_free(struct prometheus *prometheus);
DEFINE_CLEANUP(prometheus)

/* Each of these functions creates a metric and returns it. `labels` is a list of label names,
 * separated by commas ("verb,code"), or NULL. If a metric of this name exists, it is returned, so
 * that several controllers can share a metric. A different type or different labels abort the
 * program. The registry frees its metrics. */
struct prometheus_metric *prometheus_counter(struct prometheus *prometheus, const char *name,
                                             const char *help, const char *labels);
struct prometheus_metric *prometheus_gauge(struct prometheus *prometheus, const char *name,
                                           const char *help, const char *labels);
/* `bounds` are the upper bounds of the buckets in rising order. A bucket with the bound "+Inf" is
 * added. */
struct prometheus_metric *prometheus_histogram(struct prometheus *prometheus, const char *name,
                                               const char *help, const char *labels,
                                               const double *bounds, size_t bound_count);

/* The variable arguments are the label values, one per label of the metric, then NULL. A negative
 * amount for a counter aborts the program. */
void prometheus_add(struct prometheus_metric *metric, double amount, ...) __attribute__((sentinel));
void prometheus_set(struct prometheus_metric *gauge, double value, ...) __attribute__((sentinel));
void prometheus_observe(struct prometheus_metric *histogram, double value, ...)
    __attribute__((sentinel));

/* Sets a histogram whose values are counted elsewhere. `buckets` has the number of values in each
 * bucket (not cumulative), then the number of values above all bounds. `sum` is the sum of all
 * values. Only for histograms without labels. */
void prometheus_set_buckets(struct prometheus_metric *histogram, const uint64_t *buckets,
                            double sum);

/* A callback that runs before each prometheus_write(). It updates metrics whose values are
 * computed only on demand. The owner keeps the struct valid until prometheus_collector_remove(). */
struct prometheus_collector {
    void (*collect)(struct prometheus_collector *collector);
    struct prometheus_collector *next;
};
void prometheus_collector_add(struct prometheus *prometheus,
                              struct prometheus_collector *collector);
void prometheus_collector_remove(struct prometheus *prometheus,
                                 struct prometheus_collector *collector);

/* Runs the collectors, then appends all metrics that have a value, in the text format. */
void prometheus_write(struct prometheus *prometheus, struct buf *text);

#endif
