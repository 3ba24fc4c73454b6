/* Tests that the other members count their wait against the member that comes late, with every
 * algorithm. The late member comes when all others have reported that they wait, so the test does
 * not depend on the speed of the machine. A busy machine may still stop another member, which is
 * then late itself, or which misses a ping. So the expectation must hold only in most rounds. */
#include "base/mem.h"
#include "base/str.h"
#include "comm/collective/collective.h"
#include "members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FLOATS = 1 << 16, ROUNDS = 5, SAY_MS = 100 };

/* The configuration of the members that the test starts. */
static struct {
    const char *hosts[MEMBERS_MAX]; /* pretended, by rank */
    const char *algorithm;          /* NULL: a barrier instead of a sum */
    int late;                       /* rank */
    bool leaders_only;              /* only leaders measure the wait */
    int waits[2];                   /* a pipe: each member that waits writes one byte */
} plan;

struct seen {
    bool told;                      /* the wait was reported in this round */
    int64_t waited_ns[MEMBERS_MAX]; /* in this round */
};

static void report_wait_once(void *context, const char *line)
{
    struct seen *seen = context;
    if (!seen->told && strstr(line, " has waited "))
        CHECK(write(plan.waits[1], "w", 1) == 1);
    seen->told |= strstr(line, " has waited ") != NULL;
}

static void note_waited(void *context, const char *task, int64_t ns)
{
    struct seen *seen = context;
    int index;
    CHECK(sscanf(task, "worker %d", &index) == 1 && index >= 0 && index < MEMBERS_MAX);
    CHECK(!strchr(task, '('));
    CHECK(ns > 0);
    seen->waited_ns[index] += ns;
}

static void call(struct comm_group *group, int rank, int size)
{
    struct err err = ERR_INIT;
    if (!plan.algorithm) {
        CHECK_OK(comm_barrier(group, &err), &err);
        return;
    }
    _cleanup_free_ float *data = mem_calloc(FLOATS, sizeof(float));
    for (int i = 0; i < FLOATS; i++)
        data[i] = (float)((rank + 1) * (i % 100));
    CHECK_OK(comm_allreduce_with(group, collective_allreduce_by_name(plan.algorithm), data, FLOATS,
                                 &err),
             &err);
    for (int i = 0; i < FLOATS; i++)
        CHECK((int)data[i] == size * (size + 1) / 2 * (i % 100));
}

/* Whether the others waited longer for this member than for any other in this round. */
static bool is_waited_for_longest(const struct seen *seen, int rank)
{
    for (int i = 0; i < MEMBERS_MAX; i++)
        if (i != rank && seen->waited_ns[i] >= seen->waited_ns[rank])
            return false;
    return true;
}

static void member(const struct members *members, int rank)
{
    struct seen seen = {.told = true}; /* waits while the group forms do not count */
    int known = 0;
    struct ty_tf_config *config = members_config(members, false, rank);
    struct comm_options options = members_options(config);
    options.pretended_host = plan.hosts[rank];
    options.report = report_wait_once;
    options.report_ms = SAY_MS;
    options.waited = note_waited;
    options.context = &seen;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    for (int round = 0; round < ROUNDS; round++) {
        char bytes[MEMBERS_MAX];
        for (int i = 0; rank == plan.late && i < members->size - 1; i++)
            CHECK(read(plan.waits[0], bytes, 1) == 1);
        seen = (struct seen){.told = rank == plan.late};
        call(group, rank, members->size);
        known += is_waited_for_longest(&seen, plan.late);
        CHECK(seen.waited_ns[rank] == 0);
    }
    if (rank != plan.late && !(plan.leaders_only && rank % 2))
        CHECK(known > ROUNDS / 2);
    comm_group_free(group);
    ty_tf_config_free(config);
}

static void run(int size, bool one_machine, const char *algorithm)
{
    static const char *const HOSTS[] = {"a", "b", "c", "d"};
    for (int late = 0; late < size; late++) {
        struct members members;
        bool pairs = algorithm && str_eq(algorithm, "hierarchical");
        memset(&plan, 0, sizeof(plan));
        plan.algorithm = algorithm;
        plan.late = late;
        plan.leaders_only = pairs;
        for (int i = 0; i < size && !one_machine; i++)
            plan.hosts[i] = HOSTS[pairs ? i / 2 : i];
        assert_int_equal(pipe(plan.waits), 0);
        members_init(&members, size);
        members_start_all(&members, member);
        int failed = members_wait(&members);
        close(plan.waits[0]);
        close(plan.waits[1]);
        if (failed)
            fail_msg("%s of %d, worker %d late: %d members failed",
                     algorithm ? algorithm : "barrier", size, late, failed);
    }
}

static void the_late_member_is_found_in_shared_memory(void **state)
{
    run(3, true, "shared");
    run(3, true, NULL);
}

static void the_late_member_is_found_in_a_ring(void **state)
{
    run(2, false, "ring");
    run(4, false, "ring");
}

static void the_late_member_is_found_between_pairs(void **state)
{
    run(4, false, "doubling");
    run(4, false, "halving");
    run(3, false, NULL);
}

static void the_late_member_is_found_between_machines(void **state)
{
    run(4, false, "hierarchical");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_late_member_is_found_in_shared_memory),
        cmocka_unit_test(the_late_member_is_found_in_a_ring),
        cmocka_unit_test(the_late_member_is_found_between_pairs),
        cmocka_unit_test(the_late_member_is_found_between_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
