/* The core of the operator: training_reconcile() computes a plan from the observed objects of one
 * job. The controller calls it and carries out the plan. It is a pure function of the observation,
 * which includes the time. So tests can check the rules as rows of a table, and simulate jobs from
 * their creation to their end. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H
#define TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H

#include "base/json/json.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/plan.h"

struct training_gang;
struct training_claims; /* report_location.h */

/* The objects of one job, as the API returned them. `pods` and `services` have the job's name as a
 * label, even if another object controls them. `unmatched` are pods whose controller has the job's
 * name, but that do not have this name as a label. `gone` are the last states of pods that vanished
 * since the last successful pass. They are needed, because a pod that is deleted by force is never
 * seen while it terminates. */
struct training_observed {
    const struct training_kind *kind;
    const struct json *job;
    const struct json *const *pods;
    size_t pod_count;
    const struct json *const *unmatched;
    size_t unmatched_count;
    const struct json *const *gone;
    size_t gone_count;
    const struct json *const *services;
    size_t service_count;
    const struct training_gang *gang; /* NULL: each pod is scheduled separately */
    /* The PodGroup with the job's name, even if another object controls it, or NULL. */
    const struct json *pod_group;
    int64_t now_ms;             /* wall time */
    const char *cluster_domain; /* appended to host names in TF_CONFIG, or NULL */
    const char *shared_address; /* the address of all pods if they have no DNS names, or NULL */
    const char *rejection;      /* why the server permanently rejected a pod of the job, or NULL */
    const struct host_ports *host_ports; /* the port table; NULL: not complete yet */
    /* Finds the data of claims on this machine. NULL: the data of claims is on other machines. */
    const struct training_claims *claims;
};

/* Returns 0, or -ERR_INTERNAL if the job has no name or no uid. The plan is allocated in `arena`
 * and refers to the observed objects. */
int training_reconcile(const struct training_observed *observed, struct arena *arena,
                       struct training_plan *ret_plan, struct err *err);

#endif
