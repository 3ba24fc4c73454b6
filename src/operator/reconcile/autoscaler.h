/* Builds the HorizontalPodAutoscaler of an elastic job with metrics. Pure.
 * controller/plan_autoscaler.c creates, updates and deletes the object. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_AUTOSCALER_H
#define TRAINYARD_OPERATOR_RECONCILE_AUTOSCALER_H

#include "operator/kind/training_job.h"

/* Returns the autoscaler without apiVersion, which depends on the server. Returns NULL if the job
 * has no metrics. */
struct json *training_autoscaler_new(struct arena *arena, const struct training_job *job);

/* Returns whether the spec of `present` has every member of the spec of `wanted`, with the same
 * value. Other members belong to the server or the user. */
bool training_autoscaler_is_same(const struct json *wanted, const struct json *present);

#endif
