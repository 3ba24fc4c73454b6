/* The core of the operator: computes a plan from the observed objects. It is a pure function of the
 * observation and the time. So tests check the rules as rows of a table, and simulate jobs from
 * their creation to their end. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H
#define TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H

#include "base/json/json.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/plan.h"

struct training_gang;
struct training_claims; /* report_location.h */

/* Objects as the API returned them. `pods` and `services` have the job's name as a label, even if
 * another object controls them. `unmatched` are pods that the job controls but that have other
 * labels. `gone` are the last states of pods that vanished since the last pass. They are needed,
 * because a pod that is deleted by force is never seen while it terminates. */
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
    const struct training_gang *gang; /* NULL: pods are scheduled one by one */
    /* The PodGroup with the job's name, even if another object controls it, or NULL. */
    const struct json *pod_group;
    int64_t now_ms;             /* wall time */
    const char *cluster_domain; /* appended to host names in TF_CONFIG, or NULL */
    const char *shared_address; /* the address of all pods if they have no DNS names, or NULL */
    const char *rejection;      /* why the server rejects every pod of the job; NULL: it does not */
    const struct host_ports *host_ports; /* the port table; NULL: not complete yet */
    /* Finds the data of claims on this machine. NULL: the data is not on this machine. */
    const struct training_claims *claims;
};

int training_reconcile(const struct training_observed *observed, struct arena *arena,
                       struct training_plan *ret_plan, struct err *err);

#endif
