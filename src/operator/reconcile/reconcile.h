/* The core of the operator: decides from the observed objects what to do. A pure function of the
 * observation and the time, so that rules are tested as rows of a table, and whole lives of jobs
 * run in simulation. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H
#define TRAINYARD_OPERATOR_RECONCILE_RECONCILE_H

#include "base/json/json.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/plan.h"

struct training_gang;
struct training_claims; /* report_location.h */

/* Objects as the API returned them. `pods` and `services` are labelled with the job's name,
 * whatever controls them. `unmatched` are pods that the job controls but that have other labels.
 * `gone` are the last states of pods that vanished since the last pass: a pod that is deleted by
 * force is never seen while it terminates. */
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
    const struct json
        *pod_group;             /* the PodGroup of the job's name, whatever controls it; or NULL */
    int64_t now_ms;             /* wall time */
    const char *cluster_domain; /* appended to host names in TF_CONFIG; or NULL */
    const char *shared_address; /* the address of all pods, which then have no names; or NULL */
    const char *rejection;      /* why the server rejects every pod of the job; NULL: it does not */
    const struct host_ports *host_ports; /* the port table; NULL: not complete yet */
    const struct training_claims
        *claims; /* finds the data of claims on this machine; NULL: claims are elsewhere */
};

int training_reconcile(const struct training_observed *observed, struct arena *arena,
                       struct training_plan *ret_plan, struct err *err);

#endif
