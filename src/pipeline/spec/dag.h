/* What a graph of tasks does next: a pure function of the tasks' phases. A steps template is the
 * graph in which each step needs all steps of the group before it. */
#ifndef TRAINYARD_PIPELINE_DAG_H
#define TRAINYARD_PIPELINE_DAG_H

#include <stdbool.h>
#include <stddef.h>

/* Of a node of a workflow, and of the workflow itself. */
enum workflow_phase {
    WORKFLOW_ABSENT, /* there is no node yet */
    WORKFLOW_PENDING,
    WORKFLOW_RUNNING,
    WORKFLOW_SUCCEEDED,
    WORKFLOW_SKIPPED, /* its condition did not hold */
    WORKFLOW_OMITTED, /* what it needs did not succeed */
    WORKFLOW_FAILED,  /* its program failed */
    WORKFLOW_ERROR,   /* something around its program failed */
};

bool workflow_phase_is_final(enum workflow_phase phase);

struct workflow_dag_task {
    const size_t *needs; /* positions of other tasks */
    size_t need_count;
    bool continue_on_failed, continue_on_error;
    enum workflow_phase phase; /* as observed */

    /* The answer, for an unborn task. */
    bool start, omit;
};

struct workflow_dag {
    struct workflow_dag_task *tasks;
    size_t count;
    bool fail_fast; /* after a failure nothing new is started */
};

/* Fill in the answers and return the phase of the whole: running until every task that was started
 * has ended and every other is omitted; then failed or error if a task was and nobody said to go
 * on, else succeeded. The graph must have no cycle. */
enum workflow_phase workflow_dag_advance(struct workflow_dag *dag);

/* A task on a cycle, or -1. */
long workflow_dag_find_cycle(const struct workflow_dag *dag);

#endif
