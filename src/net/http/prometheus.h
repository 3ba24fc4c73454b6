/* Counters, gauges and histograms, and their text as Prometheus reads it (exposition format 0.0.4).
 *
 * A registry belongs to one loop. Everything here accepts NULL for the registry and for a metric
 * and then does nothing: whoever counts need not ask whether somebody reads. Metrics stand in the
 * order of their names and series in the order of their label values, so that two texts can be
 * compared.
 */
#ifndef TRAINYARD_NET_PROMETHEUS_H
#define TRAINYARD_NET_PROMETHEUS_H

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Series of one metric. Label values come from outside (namespaces), and memory has a bound: what
 * is over it is summed up in one series whose labels all say "other". */
enum { PROMETHEUS_SERIES_MAX = 1000, PROMETHEUS_LABELS_MAX = 4, PROMETHEUS_BOUNDS_MAX = 24 };

struct prometheus;
struct prometheus_metric;

struct prometheus *prometheus_new(void);
struct prometheus *prometheus_free(struct prometheus *prometheus);
DEFINE_CLEANUP(prometheus)

/* `labels` is a text of names with commas between ("verb,code"), or NULL. A name that is there
 * already gives the metric that is there, so that several controllers may share it; it must then be
 * of the same type and labels. The metric lives as long as the registry. */
struct prometheus_metric *prometheus_counter(struct prometheus *prometheus, const char *name,
                                             const char *help, const char *labels);
struct prometheus_metric *prometheus_gauge(struct prometheus *prometheus, const char *name,
                                           const char *help, const char *labels);
/* `bounds` are the upper ends of the buckets, rising; "+Inf" follows by itself. */
struct prometheus_metric *prometheus_histogram(struct prometheus *prometheus, const char *name,
                                               const char *help, const char *labels,
                                               const double *bounds, size_t bound_count);

/* The label values follow, as many as the metric has labels, and then NULL. A counter never falls:
 * a negative amount is a defect. */
void prometheus_add(struct prometheus_metric *metric, double amount, ...) __attribute__((sentinel));
void prometheus_set(struct prometheus_metric *gauge, double value, ...) __attribute__((sentinel));
void prometheus_observe(struct prometheus_metric *histogram, double value, ...)
    __attribute__((sentinel));

/* Show a histogram that is counted elsewhere: how many values each bucket has, one more than
 * bounds, and the sum of all values. For histograms without labels. */
void prometheus_show_buckets(struct prometheus_metric *histogram, const uint64_t *buckets,
                             double sum);

/* For numbers that are only looked up when somebody reads: `collect` sets its gauges before each
 * text. The struct lives in its owner's memory until it is removed. */
struct prometheus_collector {
    void (*collect)(struct prometheus_collector *collector);
    struct prometheus_collector *next;
};
void prometheus_collector_add(struct prometheus *prometheus,
                              struct prometheus_collector *collector);
void prometheus_collector_remove(struct prometheus *prometheus,
                                 struct prometheus_collector *collector);

void prometheus_write(struct prometheus *prometheus, struct buf *text);

#endif
