/* Carrying out the plan for one job: the status first, then each kind of action after the one
 * before, some calls at a time. Private to the Job controller. */
#ifndef TRAINYARD_ENGINE_JOB_RUN_H
#define TRAINYARD_ENGINE_JOB_RUN_H

#include "engine/controllers/job/job.h"
#include "engine/controllers/workloads.h"

struct job_run {
    struct workload_run run; /* first */
    struct job_plan plan;
};

extern const struct kube_pass_stages JOB_RUN_STAGES; /* of its pass */

#endif
