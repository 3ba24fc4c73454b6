/* Counts jobs and passes; see training_metrics.h. */
#include "operator/controller/training_metrics.h"

#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "operator/reconcile/restarts.h"

#include <string.h>

void training_metrics_init(struct training_metrics *metrics, struct prometheus *prometheus,
                           const struct training_kind *kind)
{
    static const double seconds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                     1,     2.5,  5,     10,   30,  60};
    static const char labels[] = "job_namespace,framework";

    metrics->kind = kind;
    metrics->created = prometheus_counter(prometheus, "training_operator_jobs_created_total",
                                          "Counts number of jobs created", labels);
    metrics->deleted = prometheus_counter(prometheus, "training_operator_jobs_deleted_total",
                                          "Counts number of jobs deleted", labels);
    metrics->successful = prometheus_counter(prometheus, "training_operator_jobs_successful_total",
                                             "Counts number of jobs successful", labels);
    metrics->failed = prometheus_counter(prometheus, "training_operator_jobs_failed_total",
                                         "Counts number of jobs failed", labels);
    metrics->restarted = prometheus_counter(prometheus, "training_operator_jobs_restarted_total",
                                            "Counts number of jobs restarted", labels);
    metrics->passes = prometheus_counter(prometheus, "controller_runtime_reconcile_total",
                                         "Reconciliations of jobs, by result", "controller,result");
    metrics->pass_seconds =
        prometheus_histogram(prometheus, "controller_runtime_reconcile_time_seconds",
                             "Duration of a reconciliation of a job, with its API calls",
                             "controller", seconds, ARRAY_SIZE(seconds));
    metrics->queue =
        prometheus_gauge(prometheus, "workqueue_depth", "Jobs that wait to be reconciled", "name");
    metrics->watched = prometheus_gauge(prometheus, "trainyard_watched_objects",
                                        "Objects in the operator's cache", "controller,resource");
}

static void count_job(const struct training_metrics *metrics, struct prometheus_metric *metric,
                      const char *namespace_)
{
    prometheus_add(metric, 1, namespace_, metrics->kind->framework, NULL);
}

void training_metrics_count_status(const struct training_metrics *metrics, const struct json *job,
                                   const struct json *status)
{
    const struct json *before = json_get(job, "status");
    const struct {
        const char *type;
        struct prometheus_metric *metric;
    } ROWS[] = {{"Created", metrics->created},
                {"Succeeded", metrics->successful},
                {"Failed", metrics->failed}};

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        if (training_condition_is_true(status, ROWS[i].type) &&
            !training_condition_is_true(before, ROWS[i].type))
            count_job(metrics, ROWS[i].metric, kube_meta_namespace(job));
    }
}

/* Returns the sum of the counts in an annotation TRAINING_RESTARTS_ANNOTATION. */
static int64_t sum_restarts(const char *text)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *replicas = NULL;
    int64_t sum = 0;

    if (str_is_empty(text) || json_parse(arena, text, strlen(text), NULL, &replicas, NULL) < 0)
        return 0;
    JSON_EACH (replica, replicas)
        sum += json_get_int(replica, "count", 0);
    return sum;
}

void training_metrics_count_restarts(const struct training_metrics *metrics, const struct json *job,
                                     const struct json *annotations)
{
    const char *text = json_get_string(annotations, TRAINING_RESTARTS_ANNOTATION, NULL);

    /* Replicas that restart together count as one restart of the job. */
    if (text &&
        sum_restarts(text) > sum_restarts(kube_meta_annotation(job, TRAINING_RESTARTS_ANNOTATION)))
        count_job(metrics, metrics->restarted, kube_meta_namespace(job));
}

void training_metrics_count_deleted(const struct training_metrics *metrics, const char *namespace_)
{
    count_job(metrics, metrics->deleted, namespace_);
}

void training_metrics_count_pass(const struct training_metrics *metrics, bool failed,
                                 double seconds)
{
    const char *controller = metrics->kind->controller_name;

    prometheus_add(metrics->passes, 1, controller, failed ? "error" : "success", NULL);
    prometheus_observe(metrics->pass_seconds, seconds, controller, NULL);
}

void training_metrics_show(const struct training_metrics *metrics,
                           const struct training_controller_view *view)
{
    const char *controller = metrics->kind->controller_name;

    prometheus_set(metrics->queue, (double)view->queued, controller, NULL);
    prometheus_set(metrics->watched, (double)view->jobs, controller,
                   metrics->kind->resource->plural, NULL);
    prometheus_set(metrics->watched, (double)view->pods, controller, "pods", NULL);
    prometheus_set(metrics->watched, (double)view->services, controller, "services", NULL);
}
