/* Metrics of the jobs of one kind: Kubeflow's training_operator_jobs_…_total, and the metrics of
 * controller-runtime under their usual names, so that dashboards work. The controller updates them.
 *
 * A change of a job is counted when it is written to the server: a job counts as created when its
 * condition Created is written, and as failed when its condition Failed is written. Thus an
 * operator that restarts, takes over or retries does not count the same change twice. A deletion is
 * counted when the informer shows it. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_TRAINING_METRICS_H
#define TRAINYARD_OPERATOR_CONTROLLER_TRAINING_METRICS_H

#include "base/json/json.h"
#include "net/http/prometheus.h"
#include "operator/controller/controller.h"

struct training_metrics {
    const struct training_kind *kind;
    struct prometheus_metric *created, *deleted, *successful, *failed, *restarted;
    struct prometheus_metric *passes, *pass_seconds; /* reconciles and their duration */
    struct prometheus_metric *queue, *watched;       /* jobs that wait; objects in the cache */
};

/* Registers the metrics. If `prometheus` is NULL, nothing is counted. */
void training_metrics_init(struct training_metrics *metrics, struct prometheus *prometheus,
                           const struct training_kind *kind);

/* Must be called after `status` was written. `job` is the state before, with the old status. */
void training_metrics_count_status(const struct training_metrics *metrics, const struct json *job,
                                   const struct json *status);
/* Must be called after `annotations` were written. `job` is the state before, with the old ones. */
void training_metrics_count_restarts(const struct training_metrics *metrics, const struct json *job,
                                     const struct json *annotations);
void training_metrics_count_deleted(const struct training_metrics *metrics, const char *namespace_);
/* Must be called when one pass over a job, with all its calls, has ended. */
void training_metrics_count_pass(const struct training_metrics *metrics, bool failed,
                                 double seconds);
/* Sets the gauges from the controller's current state. */
void training_metrics_show(const struct training_metrics *metrics,
                           const struct training_controller_view *view);

#endif
