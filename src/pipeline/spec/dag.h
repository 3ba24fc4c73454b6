/* The scheduling of a graph of tasks: a pure function of the tasks' phases. A steps template is the
 * graph in which each step depends on all steps of the group before it. */
#ifndef TRAINYARD_PIPELINE_SPEC_DAG_H
#define TRAINYARD_PIPELINE_SPEC_DAG_H

#include <stdbool.h>
#include <stddef.h>

/* The phase of a node, and of the workflow itself. */
enum workflow_phase {
    WORKFLOW_ABSENT, /* no node exists yet */
    WORKFLOW_PENDING,
    WORKFLOW_RUNNING,
    WORKFLOW_SUCCEEDED,
    WORKFLOW_SKIPPED, /* its condition was false */
    WORKFLOW_OMITTED, /* a dependency did not succeed */
    WORKFLOW_FAILED,  /* its program failed */
    WORKFLOW_ERROR,   /* something other than its program failed */
};

bool workflow_phase_is_final(enum workflow_phase phase);

struct workflow_dag_task {
    const size_t *needs; /* positions of the tasks it depends on */
    size_t need_count;
    bool continue_on_failed, continue_on_error;
    enum workflow_phase phase; /* the present phase */

    /* Set by workflow_dag_advance() for a task whose phase is WORKFLOW_ABSENT. */
    bool start, omit;
};

struct workflow_dag {
    struct workflow_dag_task *tasks;
    size_t count;
    bool fail_fast; /* no new task is started after a failure */
};

/* Sets `start` and `omit` of the tasks and returns the phase of the graph: running until every
 * started task has ended and every other is omitted; then failed or error if a task was and
 * continueOn does not cover it, else succeeded. The graph must have no cycle. */
enum workflow_phase workflow_dag_advance(struct workflow_dag *dag);

/* Returns the position of a task on a cycle, or -1. */
long workflow_dag_find_cycle(const struct workflow_dag *dag);

#endif
