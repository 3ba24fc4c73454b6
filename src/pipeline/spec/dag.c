/* Decides which tasks of a graph start, and finds cycles; see dag.h. */
#include "pipeline/spec/dag.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>

bool workflow_phase_is_final(enum workflow_phase phase)
{
    return phase >= WORKFLOW_SUCCEEDED;
}

/* Returns true if the task failed and its continueOn does not allow that. */
static bool has_failed(const struct workflow_dag_task *task)
{
    return (task->phase == WORKFLOW_FAILED && !task->continue_on_failed) ||
           (task->phase == WORKFLOW_ERROR && !task->continue_on_error);
}

/* Returns whether the dependents of the task may start as far as this task is concerned. */
static bool allows_dependents(const struct workflow_dag_task *task)
{
    return workflow_phase_is_final(task->phase) && task->phase != WORKFLOW_OMITTED &&
           !has_failed(task);
}

/* The state of the dependencies of a task. */
enum need { NEED_WAITS, NEED_MET, NEED_NEVER_MET };

static enum need check_needs(const struct workflow_dag *dag, const struct workflow_dag_task *task)
{
    enum need answer = NEED_MET;

    for (size_t i = 0; i < task->need_count; i++) {
        const struct workflow_dag_task *needed = &dag->tasks[task->needs[i]];

        if (has_failed(needed) || needed->phase == WORKFLOW_OMITTED || needed->omit)
            return NEED_NEVER_MET;
        if (!allows_dependents(needed))
            answer = NEED_WAITS;
    }
    return answer;
}

static bool any_failed(const struct workflow_dag *dag)
{
    for (size_t i = 0; i < dag->count; i++)
        if (has_failed(&dag->tasks[i]))
            return true;
    return false;
}

/* Sets `start` and `omit` of each task. With `stopping` no task starts. Repeats until nothing
 * changes, because the dependents of an omitted task are omitted too. */
static void dag_decide(struct workflow_dag *dag, bool stopping)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < dag->count; i++) {
            struct workflow_dag_task *task = &dag->tasks[i];

            if (task->phase != WORKFLOW_ABSENT || task->start || task->omit)
                continue;
            enum need need = check_needs(dag, task);
            task->omit = need == NEED_NEVER_MET || stopping;
            task->start = need == NEED_MET && !task->omit;
            changed = changed || task->omit;
        }
    }
}

enum workflow_phase workflow_dag_advance(struct workflow_dag *dag)
{
    enum workflow_phase worst = WORKFLOW_SUCCEEDED;

    for (size_t i = 0; i < dag->count; i++)
        dag->tasks[i].start = dag->tasks[i].omit = false;
    dag_decide(dag, dag->fail_fast && any_failed(dag));
    for (size_t i = 0; i < dag->count; i++) {
        const struct workflow_dag_task *task = &dag->tasks[i];

        if (!workflow_phase_is_final(task->phase) && !task->omit)
            return WORKFLOW_RUNNING;
        /* WORKFLOW_FAILED takes precedence over WORKFLOW_ERROR, because a failed program is more
         * informative */
        if (has_failed(task) && worst != WORKFLOW_FAILED)
            worst = task->phase;
    }
    return worst;
}

/* The state of a task in the depth-first search for a cycle. */
enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* Searches for a cycle from this task. Returns the position of a task on the cycle, or -1. */
static long dag_visit(const struct workflow_dag *dag, unsigned char *marks, size_t position)
{
    const struct workflow_dag_task *task = &dag->tasks[position];

    marks[position] = MARK_OPEN;
    for (size_t i = 0; i < task->need_count; i++) {
        size_t needed = task->needs[i];
        long found = marks[needed] == MARK_OPEN  ? (long)needed
                     : marks[needed] == MARK_NEW ? dag_visit(dag, marks, needed)
                                                 : -1;

        if (found >= 0)
            return found;
    }
    marks[position] = MARK_DONE;
    return -1;
}

long workflow_dag_find_cycle(const struct workflow_dag *dag)
{
    _cleanup_free_ unsigned char *marks = mem_calloc(dag->count + 1, 1);
    long found = -1;

    for (size_t i = 0; i < dag->count && found < 0; i++)
        if (marks[i] == MARK_NEW)
            found = dag_visit(dag, marks, i);
    return found;
}
