/* One job in a test. It is described by short texts, reconciled, and read back as short texts, so
 * that a rule is one row of a table. Quotes in JSON may be written as '. */
#ifndef TRAINYARD_TESTS_UNIT_OPERATOR_JOB_FIXTURE_H
#define TRAINYARD_TESTS_UNIT_OPERATOR_JOB_FIXTURE_H

#include "operator/reconcile/gang.h"
#include "operator/reconcile/reconcile.h"

#include "base/json/json.h"

enum { JOB_OBJECTS_MAX = 64 };

struct job_fixture {
    struct arena *arena;
    const struct training_kind *kind;
    struct json *job; /* default/mnist, uid "job-uid" */
    struct json *pods[JOB_OBJECTS_MAX], *gone[JOB_OBJECTS_MAX], *services[JOB_OBJECTS_MAX],
        *unmatched[JOB_OBJECTS_MAX];
    size_t pod_count, gone_count, service_count, unmatched_count;
    int64_t now_ms; /* starts at 2026-11-15T02:00:00Z */
    const char *cluster_domain;
    const struct host_ports *host_ports; /* owned by the test; NULL: not known yet */
    const char *shared_address;          /* address that all replicas share, or NULL */
    const char *rejection;               /* the server's permanent rejection of its pods, or NULL */
    struct training_gang gang;           /* without a scheduler: no gang */
    struct json *group;                  /* the job's PodGroup, or NULL */
    int created;                         /* number of pods created so far, for their uids */
    struct training_plan plan;
};

/* Initializes a job. `spec` is the job's, or the short form "Worker 2 OnFailure, PS 1": type,
 * replicas and restart policy (default: the kind's), with the one container of the kind.
 * `run_policy` is JSON or NULL. */
void fixture_init(struct job_fixture *fixture, const char *spec,
                  const char *run_policy); /* a TFJob */
void fixture_init_kind(struct job_fixture *fixture, const struct training_kind *kind,
                       const char *spec, const char *run_policy);
/* Initializes a job with a gang scheduler. fixture_set_spec() adds the members of a JSON object to
 * the job's spec; NULL: none. */
void fixture_init_gang(struct job_fixture *fixture, const char *scheduler, const char *spec,
                       const char *run_policy);
void fixture_set_spec(struct job_fixture *fixture, const char *members);
void fixture_set_replicas(struct job_fixture *fixture, const char *type, int replicas);
void fixture_set_suspend(struct job_fixture *fixture, bool suspend);
/* Sets the phase of the PodGroup of the job. */
void fixture_set_phase(struct job_fixture *fixture, const char *phase);
void fixture_release(struct job_fixture *fixture);

/* Sets the pods: "worker-0=Running worker-1=Failed(137) ps-0=Running*2!". Each has a phase, the
 * exit code of tensorflow in (), restarts in place after *, and marks: ! being deleted, ? with
 * another owner, ~ without an owner. Each pod also gets its service. */
void fixture_pods(struct job_fixture *fixture, const char *text);
/* Sets the pods that have disappeared since the last pass, in the same notation. */
void fixture_gone_pods(struct job_fixture *fixture, const char *text);
/* Changes existing pods, with the same notation. */
void fixture_change(struct job_fixture *fixture, const char *text);

void fixture_reconcile(struct job_fixture *fixture);
/* Applies the plan. Deleted pods are gone at once. */
void fixture_apply(struct job_fixture *fixture);
/* Reconciles and applies until there is nothing left to do. */
void fixture_settle(struct job_fixture *fixture);

/* Returns the actions of the plan: "+svc mnist-worker-0, +pod mnist-worker-0, -pod …, -svc …, -job
 * mnist, +group mnist, ~group mnist, -group mnist; adopt pod …, adopt svc …, adopt group …, release
 * pod …". A forced deletion ends with "!". */
char *fixture_actions(struct job_fixture *fixture);
/* Returns the conditions of the status in the plan, or of the job if the plan has no status:
 * "Created Running=False Failed". In the fixture's arena. */
char *fixture_conditions(struct job_fixture *fixture);
/* Returns "Worker 1/0/2" (active/succeeded/failed), in the order of the types. */
char *fixture_counts(struct job_fixture *fixture);
/* Returns the events, one per line: "Normal TFJobSucceeded: …". */
char *fixture_events(struct job_fixture *fixture);
/* Returns whether an event contains this text. */
bool fixture_has_event(struct job_fixture *fixture, const char *text);
const char *fixture_message(struct job_fixture *fixture, const char *condition);

#endif
