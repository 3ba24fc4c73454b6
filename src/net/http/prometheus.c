/* Implements the registry of the metrics for /metrics; see prometheus.h. A wrong name of a metric
 * is a programming error and aborts when the metric is created. Label values come from users and
 * are escaped. */
#include "net/http/prometheus.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum metric_type { COUNTER, GAUGE, HISTOGRAM };

static const char *const TYPE_NAMES[] = {"counter", "gauge", "histogram"};
static const char OTHER[] = "other";

struct series {
    char *values[PROMETHEUS_LABELS_MAX];
    double value;      /* for a histogram: the sum of all values */
    uint64_t *buckets; /* for a histogram: number of values in each bucket, and above all bounds */
};

struct prometheus_metric {
    enum metric_type type;
    char *name, *help, *label_text;
    char *labels[PROMETHEUS_LABELS_MAX];
    size_t label_count;
    double bounds[PROMETHEUS_BOUNDS_MAX];
    size_t bound_count;
    VEC(struct series *) series; /* sorted by label values */
};

struct prometheus {
    VEC(struct prometheus_metric *) metrics; /* sorted by name */
    struct prometheus_collector *collectors;
};

struct prometheus *prometheus_new(void)
{
    return mem_zalloc(sizeof(struct prometheus));
}

static void metric_free(struct prometheus_metric *metric)
{
    for (size_t i = 0; i < metric->series.count; i++) {
        struct series *series = metric->series.items[i];
        for (size_t label = 0; label < metric->label_count; label++)
            free(series->values[label]);
        free(series->buckets);
        free(series);
    }
    vec_release(&metric->series);
    for (size_t i = 0; i < metric->label_count; i++)
        free(metric->labels[i]);
    free(metric->name);
    free(metric->help);
    free(metric->label_text);
    free(metric);
}

struct prometheus *prometheus_free(struct prometheus *prometheus)
{
    if (!prometheus)
        return NULL;
    for (size_t i = 0; i < prometheus->metrics.count; i++)
        metric_free(prometheus->metrics.items[i]);
    vec_release(&prometheus->metrics);
    free(prometheus);
    return NULL;
}

/* ---- creating metrics ------------------------------------------------------------------------ */

static bool metric_is_name(const char *name, bool colon_allowed)
{
    if (*name >= '0' && *name <= '9')
        return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_' || (*c == ':' && colon_allowed)))
            return false;
    return *name != '\0';
}

static void set_labels(struct prometheus_metric *metric, const char *labels)
{
    while (*labels) {
        size_t size = strcspn(labels, ",");
        if (metric->label_count == PROMETHEUS_LABELS_MAX)
            mem_panic("metric %s: more than %d labels", metric->name, PROMETHEUS_LABELS_MAX);
        char *label = mem_strndup(labels, size);
        metric->labels[metric->label_count++] = label;
        if (!metric_is_name(label, false))
            mem_panic("metric %s: '%s' is not a label name", metric->name, label);
        labels += size + (labels[size] == ',');
    }
}

/* Returns the metric of this name. Creates it if it does not exist. */
static struct prometheus_metric *metric_get(struct prometheus *prometheus, enum metric_type type,
                                            const char *name, const char *help, const char *labels)
{
    size_t at = 0;
    if (!prometheus)
        return NULL;
    while (at < prometheus->metrics.count && strcmp(prometheus->metrics.items[at]->name, name) < 0)
        at++;
    if (at < prometheus->metrics.count && str_eq(prometheus->metrics.items[at]->name, name)) {
        struct prometheus_metric *existing = prometheus->metrics.items[at];
        if (existing->type != type || !str_eq(existing->label_text, labels ? labels : ""))
            mem_panic("metric %s: registered twice, with different types or labels", name);
        return existing;
    }
    if (!metric_is_name(name, true))
        mem_panic("metric '%s': not a valid metric name", name);

    struct prometheus_metric *metric = mem_zalloc(sizeof(*metric));
    metric->type = type;
    metric->name = mem_strdup(name);
    metric->help = mem_strdup(help);
    metric->label_text = mem_strdup(labels ? labels : "");
    set_labels(metric, metric->label_text);
    vec_push(&prometheus->metrics, metric);
    for (size_t i = prometheus->metrics.count - 1; i > at; i--)
        prometheus->metrics.items[i] = prometheus->metrics.items[i - 1];
    prometheus->metrics.items[at] = metric;
    return metric;
}

struct prometheus_metric *prometheus_counter(struct prometheus *prometheus, const char *name,
                                             const char *help, const char *labels)
{
    return metric_get(prometheus, COUNTER, name, help, labels);
}

struct prometheus_metric *prometheus_gauge(struct prometheus *prometheus, const char *name,
                                           const char *help, const char *labels)
{
    return metric_get(prometheus, GAUGE, name, help, labels);
}

struct prometheus_metric *prometheus_histogram(struct prometheus *prometheus, const char *name,
                                               const char *help, const char *labels,
                                               const double *bounds, size_t bound_count)
{
    struct prometheus_metric *metric = metric_get(prometheus, HISTOGRAM, name, help, labels);
    if (!metric || metric->bound_count)
        return metric;
    if (bound_count == 0 || bound_count > PROMETHEUS_BOUNDS_MAX)
        mem_panic("metric %s: %zu buckets", name, bound_count);
    for (size_t i = 1; i < bound_count; i++)
        if (bounds[i] <= bounds[i - 1])
            mem_panic("metric %s: the bounds of its buckets must increase", name);
    memcpy(metric->bounds, bounds, bound_count * sizeof(*bounds));
    metric->bound_count = bound_count;
    return metric;
}

/* ---- counting -------------------------------------------------------------------------------- */

struct labels {
    const char *values[PROMETHEUS_LABELS_MAX];
};

static struct labels read_labels(const struct prometheus_metric *metric, va_list args)
{
    struct labels labels = {0};
    size_t count = 0;
    for (const char *value; (value = va_arg(args, const char *)); count++)
        if (count < PROMETHEUS_LABELS_MAX)
            labels.values[count] = value;
    if (count != metric->label_count)
        mem_panic("metric %s: %zu values for %zu labels", metric->name, count, metric->label_count);
    return labels;
}

static int series_compare(const struct prometheus_metric *metric, const struct series *series,
                          const struct labels *labels)
{
    int order = 0;
    for (size_t i = 0; i < metric->label_count && order == 0; i++)
        order = strcmp(series->values[i], labels->values[i]);
    return order;
}

/* Returns the position of the first series whose labels are equal to or sorted after these
 * labels. */
static size_t series_find(const struct prometheus_metric *metric, const struct labels *labels)
{
    size_t low = 0, high = metric->series.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series_compare(metric, metric->series.items[middle], labels) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the series with these labels. Creates it if it does not exist. Beyond the limit, returns
 * the series whose labels are all "other". */
static struct series *series_get(struct prometheus_metric *metric, struct labels labels)
{
    size_t at = series_find(metric, &labels);
    if (at < metric->series.count && series_compare(metric, metric->series.items[at], &labels) == 0)
        return metric->series.items[at];
    if (metric->label_count && metric->series.count + 1 >= PROMETHEUS_SERIES_MAX) {
        for (size_t i = 0; i < metric->label_count; i++)
            labels.values[i] = OTHER;
        at = series_find(metric, &labels);
        if (at < metric->series.count &&
            series_compare(metric, metric->series.items[at], &labels) == 0)
            return metric->series.items[at];
    }
    struct series *series = mem_zalloc(sizeof(*series));
    for (size_t i = 0; i < metric->label_count; i++)
        series->values[i] = mem_strdup(labels.values[i]);
    if (metric->type == HISTOGRAM)
        series->buckets = mem_calloc(metric->bound_count + 1, sizeof(*series->buckets));
    vec_push(&metric->series, series);
    memmove(&metric->series.items[at + 1], &metric->series.items[at],
            (metric->series.count - 1 - at) * sizeof(struct series *));
    metric->series.items[at] = series;
    return series;
}

void prometheus_add(struct prometheus_metric *metric, double amount, ...)
{
    if (!metric)
        return;
    if (metric->type == HISTOGRAM || (metric->type == COUNTER && !(amount >= 0)))
        mem_panic("metric %s: %g cannot be added to a %s", metric->name, amount,
                  TYPE_NAMES[metric->type]);
    va_list args;
    va_start(args, amount);
    series_get(metric, read_labels(metric, args))->value += amount;
    va_end(args);
}

void prometheus_set(struct prometheus_metric *gauge, double value, ...)
{
    if (!gauge)
        return;
    if (gauge->type != GAUGE)
        mem_panic("metric %s: a %s cannot be set", gauge->name, TYPE_NAMES[gauge->type]);
    va_list args;
    va_start(args, value);
    series_get(gauge, read_labels(gauge, args))->value = value;
    va_end(args);
}

void prometheus_observe(struct prometheus_metric *histogram, double value, ...)
{
    if (!histogram)
        return;
    if (histogram->type != HISTOGRAM)
        mem_panic("metric %s: a %s cannot observe values", histogram->name,
                  TYPE_NAMES[histogram->type]);
    va_list args;
    va_start(args, value);
    struct series *series = series_get(histogram, read_labels(histogram, args));
    va_end(args);
    size_t bucket = 0;
    while (bucket < histogram->bound_count && value > histogram->bounds[bucket])
        bucket++;
    series->buckets[bucket]++;
    series->value += value;
}

void prometheus_set_buckets(struct prometheus_metric *histogram, const uint64_t *buckets,
                            double sum)
{
    if (!histogram)
        return;
    if (histogram->type != HISTOGRAM || histogram->label_count)
        mem_panic("metric %s: not a histogram without labels", histogram->name);
    struct series *series = series_get(histogram, (struct labels){0});
    memcpy(series->buckets, buckets, (histogram->bound_count + 1) * sizeof(*buckets));
    series->value = sum;
}

/* ---- the text format ------------------------------------------------------------------------- */

void prometheus_collector_add(struct prometheus *prometheus, struct prometheus_collector *collector)
{
    if (!prometheus)
        return;
    collector->next = prometheus->collectors;
    prometheus->collectors = collector;
}

void prometheus_collector_remove(struct prometheus *prometheus,
                                 struct prometheus_collector *collector)
{
    struct prometheus_collector **at = prometheus ? &prometheus->collectors : NULL;
    while (at && *at && *at != collector)
        at = &(*at)->next;
    if (at && *at)
        *at = collector->next;
}

static void prometheus_write_escaped(struct buf *text, const char *value, bool quotes)
{
    for (const char *c = value; *c; c++) {
        if (*c == '\n')
            buf_append_str(text, "\\n");
        else if (*c == '\\' || (*c == '"' && quotes))
            buf_printf(text, "\\%c", *c);
        else
            buf_append_char(text, *c);
    }
}

/* Writes the shortest text that parses to the same number. */
static void write_number(struct buf *text, double value)
{
    char digits[40];
    if (isnan(value)) {
        buf_append_str(text, "NaN");
    } else if (isinf(value)) {
        buf_append_str(text, value > 0 ? "+Inf" : "-Inf");
    } else {
        for (int precision = 15; precision <= 17; precision++) {
            snprintf(digits, sizeof(digits), "%.*g", precision, value);
            if (strtod(digits, NULL) == value)
                break;
        }
        buf_append_str(text, digits);
    }
}

static void write_labels(struct buf *text, const struct prometheus_metric *metric,
                         const struct series *series, const double *bound)
{
    if (metric->label_count == 0 && !bound)
        return;
    for (size_t i = 0; i < metric->label_count; i++) {
        buf_printf(text, "%s%s=\"", i ? "," : "{", metric->labels[i]);
        prometheus_write_escaped(text, series->values[i], true);
        buf_append_char(text, '"');
    }
    if (bound) {
        buf_append_str(text, metric->label_count ? ",le=\"" : "{le=\"");
        write_number(text, *bound);
        buf_append_char(text, '"');
    }
    buf_append_char(text, '}');
}

static void write_sample(struct buf *text, const struct prometheus_metric *metric,
                         const struct series *series, const char *suffix, const double *bound,
                         double value)
{
    buf_printf(text, "%s%s", metric->name, suffix);
    write_labels(text, metric, series, bound);
    buf_append_char(text, ' ');
    write_number(text, value);
    buf_append_char(text, '\n');
}

static void write_histogram(struct buf *text, const struct prometheus_metric *metric,
                            const struct series *series)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= metric->bound_count; i++) {
        double bound = i < metric->bound_count ? metric->bounds[i] : INFINITY;
        count += series->buckets[i];
        write_sample(text, metric, series, "_bucket", &bound, (double)count);
    }
    write_sample(text, metric, series, "_sum", NULL, series->value);
    write_sample(text, metric, series, "_count", NULL, (double)count);
}

void prometheus_write(struct prometheus *prometheus, struct buf *text)
{
    if (!prometheus)
        return;
    for (struct prometheus_collector *each = prometheus->collectors; each; each = each->next)
        each->collect(each);
    for (size_t i = 0; i < prometheus->metrics.count; i++) {
        const struct prometheus_metric *metric = prometheus->metrics.items[i];
        if (metric->label_count && metric->series.count == 0)
            continue; /* the metric has no series yet */
        buf_printf(text, "# HELP %s ", metric->name);
        prometheus_write_escaped(text, metric->help, false);
        buf_printf(text, "\n# TYPE %s %s\n", metric->name, TYPE_NAMES[metric->type]);
        if (metric->series.count == 0 && metric->type != HISTOGRAM)
            buf_printf(text, "%s 0\n", metric->name);
        for (size_t j = 0; j < metric->series.count; j++) {
            const struct series *series = metric->series.items[j];
            if (metric->type == HISTOGRAM)
                write_histogram(text, metric, series);
            else
                write_sample(text, metric, series, "", NULL, series->value);
        }
    }
}
