/* The HorizontalPodAutoscaler of an elastic job that names metrics: what it shall be, as a pure
 * function. Carrying it out is plan_autoscaler.c's. */
#ifndef TRAINYARD_OPERATOR_AUTOSCALER_H
#define TRAINYARD_OPERATOR_AUTOSCALER_H

#include "operator/kind/training_job.h"

/* The object without its apiVersion, which the server decides; NULL: the job asks for none. */
struct json *training_autoscaler_new(struct arena *arena, const struct training_job *job);

/* The members of `spec` are as they shall be; others are the server's or the user's. */
bool training_autoscaler_is_same(const struct json *wanted, const struct json *present);

#endif
