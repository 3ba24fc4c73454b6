/* The heart of the operator: from what is, what shall be done. A pure function of what was observed
 * and the time, so that every rule can be tested as a row of a table and whole lives of jobs run in
 * simulation. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_H
#define TRAINYARD_OPERATOR_RECONCILE_H

#include "base/json/json.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_ports.h"
#include "operator/reconcile/plan.h"

struct training_gang;
struct training_claims; /* report_place.h */

/* Objects as the API gave them. Pods and services are those labelled with the job's name, whoever
 * controls them; `unmatched` are the pods that the job controls and that are labelled otherwise.
 * `gone` are the last states of pods that vanished since the job was last reconciled: what is
 * deleted by force is never seen while it goes. */
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
    const struct training_gang *gang;     /* NULL: each pod is scheduled for itself */
    const struct json *pod_group;         /* of the job's name, whoever controls it; or NULL */
    int64_t now_ms;                       /* wall time */
    const char *cluster_domain;           /* put behind the host names of TF_CONFIG, or NULL */
    const char *shared_address;           /* of all pods, who have no other and no names; or NULL */
    const char *rejection;                /* why no pod of it can be made, ever; NULL: it can */
    const struct host_ports *host_ports;  /* who holds which; NULL: not known yet */
    const struct training_claims *claims; /* where their data lies; NULL: not on this machine */
};

int training_reconcile(const struct training_observed *observed, struct arena *arena,
                       struct training_plan *ret_plan, struct err *err);

#endif
