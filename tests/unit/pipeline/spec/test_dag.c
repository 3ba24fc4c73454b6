/* Tests all graphs of up to 4 tasks (5 with TRAINYARD_TEST_SCALE above 1), with all ends of the
 * tasks, in random order. Each task begins at most once, and only when all its dependencies have
 * succeeded. The graph always ends, with the result of a slow reference. */
#include "pipeline/spec/dag.h"

#include "base/mem.h"
#include "base/rand.h"
#include "test_scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS_MAX = 5, DRAWS = 6 };

struct life {
    struct workflow_dag dag;
    struct workflow_dag_task tasks[TASKS_MAX];
    size_t needs[TASKS_MAX][TASKS_MAX];
    enum workflow_phase fate[TASKS_MAX]; /* how each task would end */
    int begun[TASKS_MAX];
};

/* Bit i * (i - 1) / 2 + j of `edges`: task i depends on task j < i. Every acyclic graph has such an
 * order. */
static void draw_dag(struct life *life, size_t count, unsigned edges, struct rand *rand)
{
    static const enum workflow_phase fates[] = {WORKFLOW_SUCCEEDED, WORKFLOW_SUCCEEDED,
                                                WORKFLOW_SKIPPED, WORKFLOW_FAILED, WORKFLOW_ERROR};
    size_t order[TASKS_MAX]; /* position of task i in the spec, so that tasks come in any order */

    memset(life, 0, sizeof(*life));
    life->dag = (struct workflow_dag){
        .tasks = life->tasks, .count = count, .fail_fast = rand_below(rand, 2)};
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t other = rand_below(rand, i), kept = order[i - 1];

        order[i - 1] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        struct workflow_dag_task *task = &life->tasks[order[i]];

        task->needs = life->needs[order[i]];
        for (size_t j = 0; j < i; j++)
            if (edges & (1U << (i * (i - 1) / 2 + j)))
                life->needs[order[i]][task->need_count++] = order[j];
        task->continue_on_failed = rand_below(rand, 4) == 0;
        task->continue_on_error = rand_below(rand, 4) == 0;
        life->fate[order[i]] = fates[rand_below(rand, ARRAY_SIZE(fates))];
    }
}

static bool blocks_dependents(const struct life *life, size_t i, enum workflow_phase end)
{
    return end == WORKFLOW_OMITTED ||
           (end == WORKFLOW_FAILED && !life->tasks[i].continue_on_failed) ||
           (end == WORKFLOW_ERROR && !life->tasks[i].continue_on_error);
}

/* Returns how a task ends without failFast: omitted if a dependency does not let it run. */
static enum workflow_phase reference_end(const struct life *life, size_t i)
{
    const struct workflow_dag_task *task = &life->tasks[i];

    for (size_t k = 0; k < task->need_count; k++)
        if (blocks_dependents(life, task->needs[k], reference_end(life, task->needs[k])))
            return WORKFLOW_OMITTED;
    return life->fate[i];
}

static enum workflow_phase reference_phase(const struct life *life)
{
    enum workflow_phase worst = WORKFLOW_SUCCEEDED;

    for (size_t i = 0; i < life->dag.count; i++) {
        enum workflow_phase end = reference_end(life, i);

        if (end == WORKFLOW_OMITTED || !blocks_dependents(life, i, end))
            continue;
        if (worst != WORKFLOW_FAILED)
            worst = end;
    }
    return worst;
}

static void begin_task(struct life *life, size_t i)
{
    const struct workflow_dag_task *task = &life->tasks[i];

    assert_int_equal(life->begun[i]++, 0);
    for (size_t k = 0; k < task->need_count; k++) {
        enum workflow_phase end = life->tasks[task->needs[k]].phase;

        assert_true(workflow_phase_is_final(end));
        assert_false(blocks_dependents(life, task->needs[k], end));
    }
    life->tasks[i].phase = WORKFLOW_RUNNING;
}

static bool end_random_task(struct life *life, struct rand *rand)
{
    size_t running[TASKS_MAX], count = 0;

    for (size_t i = 0; i < life->dag.count; i++)
        if (life->tasks[i].phase == WORKFLOW_RUNNING)
            running[count++] = i;
    if (count == 0)
        return false;
    size_t drawn = running[rand_below(rand, count)];
    life->tasks[drawn].phase = life->fate[drawn];
    return true;
}

static enum workflow_phase run_dag(struct life *life, struct rand *rand)
{
    for (int turn = 0; turn <= 2 * TASKS_MAX; turn++) {
        enum workflow_phase phase = workflow_dag_advance(&life->dag);
        bool stopped = false;

        for (size_t i = 0; i < life->dag.count; i++)
            stopped = stopped || (workflow_phase_is_final(life->tasks[i].phase) &&
                                  blocks_dependents(life, i, life->tasks[i].phase));
        for (size_t i = 0; i < life->dag.count; i++) {
            assert_false(life->tasks[i].start && life->tasks[i].omit);
            assert_false(life->tasks[i].start && stopped && life->dag.fail_fast);
            if (life->tasks[i].start)
                begin_task(life, i);
        }
        if (phase != WORKFLOW_RUNNING)
            return phase;
        assert_true(end_random_task(life, rand)); /* otherwise the graph would wait forever */
    }
    fail_msg("the graph does not end");
    return WORKFLOW_RUNNING;
}

/* With failFast the result depends on the order; without it, only on the ends of the tasks. */
static void check_end(const struct life *life, enum workflow_phase phase)
{
    enum workflow_phase reference = reference_phase(life);

    if (!life->dag.fail_fast || reference == WORKFLOW_SUCCEEDED) {
        assert_int_equal(phase, reference);
        for (size_t i = 0; i < life->dag.count; i++)
            assert_int_equal(life->begun[i], reference_end(life, i) != WORKFLOW_OMITTED);
    } else {
        assert_true(phase == WORKFLOW_FAILED || phase == WORKFLOW_ERROR);
    }
    for (size_t i = 0; i < life->dag.count; i++)
        assert_true(workflow_phase_is_final(life->tasks[i].phase) ||
                    (life->tasks[i].omit && !life->begun[i]));
}

static void test_every_graph_matches_the_reference(void **state)
{
    size_t count_max = test_is_soak() ? TASKS_MAX : TASKS_MAX - 1;
    struct rand rand;

    rand_init(&rand, 20261115);
    for (size_t count = 0; count <= count_max; count++) {
        size_t pairs = count > 0 ? count * (count - 1) / 2 : 0;

        for (unsigned edges = 0; edges < 1U << pairs; edges++) {
            for (int draw = 0; draw < DRAWS * 20; draw++) {
                struct life life;

                draw_dag(&life, count, edges, &rand);
                assert_int_equal(workflow_dag_find_cycle(&life.dag), -1);
                check_end(&life, run_dag(&life, &rand));
            }
        }
    }
}

static void test_cycles_are_found(void **state)
{
    static const size_t to_0[] = {0}, to_1[] = {1}, to_2[] = {2};
    struct workflow_dag_task self[] = {{.needs = to_0, .need_count = 1}};
    struct workflow_dag_task ring[] = {
        {.needs = NULL}, {.needs = to_2, .need_count = 1}, {.needs = to_1, .need_count = 1}};

    assert_int_equal(workflow_dag_find_cycle(&(struct workflow_dag){.tasks = self, .count = 1}), 0);
    assert_true(workflow_dag_find_cycle(&(struct workflow_dag){.tasks = ring, .count = 3}) > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_graph_matches_the_reference),
        cmocka_unit_test(test_cycles_are_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
