/* Carries out the plan for one job: the status first, then one type of action after another,
 * several calls at a time. Used by job/controller.c only. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_JOB_RUN_H
#define TRAINYARD_ENGINE_CONTROLLERS_JOB_RUN_H

#include "engine/controllers/job/job.h"
#include "engine/controllers/workloads.h"

/* A pass over one job. */
struct job_run {
    struct workload_run run; /* must be first */
    struct job_plan plan;
};

extern const struct kube_pass_stages JOB_RUN_STAGES; /* the stages of a job's pass */

#endif
