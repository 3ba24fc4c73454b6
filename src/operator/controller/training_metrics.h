/* What is counted of the jobs of one kind: Kubeflow's training_operator_jobs_…_total, and the
 * numbers that any controller shows, under the names of Kubernetes' own (controller-runtime), so
 * that dashboards fit.
 *
 * Events are counted where they are written down: a job is created when its condition Created
 * reaches the server, failed with its condition Failed. So nothing is counted again by an operator
 * that starts, takes over or tries twice. */
#ifndef TRAINYARD_OPERATOR_TRAINING_METRICS_H
#define TRAINYARD_OPERATOR_TRAINING_METRICS_H

#include "base/json/json.h"
#include "net/http/prometheus.h"
#include "operator/controller/controller.h"

struct training_metrics {
    const struct training_kind *kind;
    struct prometheus_metric *created, *deleted, *successful, *failed, *restarted;
    struct prometheus_metric *passes, *pass_seconds, *queue, *watched;
};

/* `prometheus` may be NULL: then nothing is counted. */
void training_metrics_init(struct training_metrics *metrics, struct prometheus *prometheus,
                           const struct training_kind *kind);

/* The job's status has been written in place of the one it had. */
void training_metrics_count_status(const struct training_metrics *metrics, const struct json *job,
                                   const struct json *status);
/* The annotations have been written onto those it had. */
void training_metrics_count_restarts(const struct training_metrics *metrics, const struct json *job,
                                     const struct json *annotations);
void training_metrics_count_deleted(const struct training_metrics *metrics, const char *namespace_);
/* One pass over a job, with all its calls. */
void training_metrics_count_pass(const struct training_metrics *metrics, bool failed,
                                 double seconds);
/* How the controller is getting on, now. */
void training_metrics_show(const struct training_metrics *metrics,
                           const struct training_controller_view *view);

#endif
