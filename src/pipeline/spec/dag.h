/* Decides which tasks of a graph start, from the phases of all tasks. Pure. A steps template is a
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
    WORKFLOW_SKIPPED, /* the task's condition was false */
    WORKFLOW_OMITTED, /* never started, because a dependency did not succeed, or because of
                         fail_fast */
    WORKFLOW_FAILED,  /* the program failed, or a deadline, a stop or a failureCondition ended the
                         node */
    WORKFLOW_ERROR,   /* another cause, such as a deleted pod or an unresolved reference */
};

bool workflow_phase_is_final(enum workflow_phase phase);

struct workflow_dag_task {
    const size_t *needs; /* positions of the tasks that this task depends on */
    size_t need_count;
    bool continue_on_failed, continue_on_error;
    enum workflow_phase phase; /* the current phase */

    /* Set by workflow_dag_advance() for a task whose phase is WORKFLOW_ABSENT. */
    bool start, omit;
};

struct workflow_dag {
    struct workflow_dag_task *tasks;
    size_t count;
    bool fail_fast; /* after a failure, all tasks that have not started are omitted */
};

/* Sets `start` and `omit` of the tasks and returns the phase of the graph. The phase is
 * WORKFLOW_RUNNING until every task has ended or is omitted. Then it is WORKFLOW_FAILED if a task
 * has failed, else WORKFLOW_ERROR if a task ended with an error, else WORKFLOW_SUCCEEDED. A failure
 * or error that the task's continueOn allows does not count. The graph must have no cycle. */
enum workflow_phase workflow_dag_advance(struct workflow_dag *dag);

/* Returns the position of a task on a cycle, or -1. */
long workflow_dag_find_cycle(const struct workflow_dag *dag);

#endif
