/* One job in a test: described in short texts, reconciled, and read back as short texts, so that a
 * rule is a row of a table. Quotes in JSON may be written as '. */
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
    int64_t now_ms; /* 2026-11-15T02:00:00Z at first */
    const char *cluster_domain;
    const struct host_ports *host_ports; /* the test's; NULL: not known yet */
    const char *shared_address;          /* or NULL */
    const char *rejection;               /* of its pods, for good; or NULL */
    struct training_gang gang;           /* without a scheduler: none */
    struct json *group;                  /* the job's PodGroup, or NULL */
    int created;                         /* pods made so far, for their uids */
    struct training_plan plan;
};

/* `spec` is the job's, or the short form "Worker 2 OnFailure, PS 1": type, replicas and restart
 * policy (the kind's default if not said), with the one container of the kind. `run_policy`: JSON
 * or NULL. */
void fixture_init(struct job_fixture *fixture, const char *spec,
                  const char *run_policy); /* a TFJob */
void fixture_init_kind(struct job_fixture *fixture, const struct training_kind *kind,
                       const char *spec, const char *run_policy);
/* Put the members of a JSON object into the job's spec; NULL: none. */
void fixture_init_gang(struct job_fixture *fixture, const char *scheduler, const char *spec,
                       const char *run_policy);
void fixture_set_spec(struct job_fixture *fixture, const char *members);
void fixture_set_replicas(struct job_fixture *fixture, const char *type, int replicas);
void fixture_set_suspend(struct job_fixture *fixture, bool suspend);
void fixture_set_phase(struct job_fixture *fixture, const char *phase); /* of its PodGroup */
void fixture_release(struct job_fixture *fixture);

/* "worker-0=Running worker-1=Failed(137) ps-0=Running*2!": phase, exit code of tensorflow, restarts
 * in place, ! being deleted, ? of another owner, ~ of none. Each pod also gets its service. */
void fixture_pods(struct job_fixture *fixture, const char *text);
void fixture_gone(struct job_fixture *fixture, const char *text);
/* Change the pods that are there: the same texts. */
void fixture_change(struct job_fixture *fixture, const char *text);

void fixture_reconcile(struct job_fixture *fixture);
/* Do what the plan says, as an obedient cluster would: pods deleted are gone at once. */
void fixture_apply(struct job_fixture *fixture);
/* Reconcile and apply until nothing is left to do. */
void fixture_settle(struct job_fixture *fixture);

/* "+svc mnist-worker-0, +pod mnist-worker-0, -pod …, -svc …, -job mnist, +group
 * mnist, ~group mnist, -group mnist; adopt pod …, adopt svc …, adopt group …, release pod …"; "!"
 * behind a forced one */
char *fixture_actions(struct job_fixture *fixture);
/* Of the plan's status, or else the job's: "Created Running=False Failed". */
char *fixture_conditions(struct job_fixture *fixture);
/* "Worker 1/0/2" (active/succeeded/failed), in the order of the types. */
char *fixture_counts(struct job_fixture *fixture);
/* "Normal TFJobSucceeded: …" a line. */
char *fixture_events(struct job_fixture *fixture);
bool fixture_was_told(struct job_fixture *fixture, const char *text); /* by an event */
const char *fixture_message(struct job_fixture *fixture, const char *condition);

#endif
