/* Jobs: the labels that identify the pods of a Job, and the validation hook of the Job row. */
#ifndef TRAINYARD_KUBE_KINDS_JOB_H
#define TRAINYARD_KUBE_KINDS_JOB_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

#define JOB_NAME_LABEL     "batch.kubernetes.io/job-name"
#define JOB_NAME_LABEL_OLD "job-name"
#define JOB_UID_LABEL      "batch.kubernetes.io/controller-uid"
#define JOB_UID_LABEL_OLD  "controller-uid"

/* The validation hook of the row. */
void kube_job_validate(struct field_errors *errors, const struct json *job, const struct json *old);

#endif
