/* Jobs: the labels by which the pods of a job are known, and the validation hook of their row. */
#ifndef TRAINYARD_KUBE_KINDS_JOB_H
#define TRAINYARD_KUBE_KINDS_JOB_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

#define JOB_NAME_LABEL     "batch.kubernetes.io/job-name"
#define JOB_NAME_LABEL_OLD "job-name"
#define JOB_UID_LABEL      "batch.kubernetes.io/controller-uid"
#define JOB_UID_LABEL_OLD  "controller-uid"

void kube_job_validate(struct field_errors *errors, const struct json *job, const struct json *old);

#endif
