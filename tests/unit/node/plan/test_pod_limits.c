/* Tests how the resources of a Pod become values of control groups, as the kubelet computes
 * them. */
#include "node_test.h"

#include "node/plan/limits.h"

static const struct {
    const char *pod;
    struct cgroup_limits limits;
} CASES[] = {
    /* Without requests: the smallest weight, and no limit except the number of processes. */
    {"{'spec':{'containers':[{'name':'a'}]}}", {2, 0, 0, POD_PIDS_DEFAULT}},
    {"{'spec':{'containers':[{'resources':{'requests':{'cpu':'500m'},"
     "'limits':{'cpu':'1500m','memory':'64Mi'}}}]}}",
     {512, 150000, 64 << 20, POD_PIDS_DEFAULT}},
    /* If each container has a limit, the pod has the sum. */
    {"{'spec':{'containers':[{'resources':{'limits':{'cpu':1,'memory':'1Mi'},'requests':{'cpu':1}}}"
     ","
     "{'resources':{'limits':{'cpu':'250m','memory':'2Mi'},'requests':{'cpu':'250m'}}}]}}",
     {1280, 125000, 3 << 20, POD_PIDS_DEFAULT}},
    /* If one container has no limit, the pod has none. */
    {"{'spec':{'containers':[{'resources':{'limits':{'cpu':1,'memory':'1Mi'},'requests':{'cpu':1}}}"
     ","
     "{'resources':{'limits':{'cpu':'1'},'requests':{'cpu':'1'}}}]}}",
     {2048, 200000, 0, POD_PIDS_DEFAULT}},
    /* The largest init container runs before the others. A sidecar runs at the same time as all of
     * them. */
    {"{'spec':{'initContainers':[{'restartPolicy':'Always','resources':{'requests':{'cpu':1}}},"
     "{'resources':{'requests':{'cpu':4}}}],'containers':[{'resources':{'requests':{'cpu':2}}}]}}",
     {5120, 0, 0, POD_PIDS_DEFAULT}},
    /* A value below the minimum of the kernel becomes the minimum. */
    {"{'spec':{'containers':[{'resources':{'limits':{'cpu':'1m'},'requests':{'cpu':'1m'}}}]}}",
     {2, 1000, 0, POD_PIDS_DEFAULT}},
    {"{'metadata':{'annotations':{'trainyard.dev/pids-limit':'50'}},'spec':{'containers':[{}]}}",
     {2, 0, 0, 50}},
};

static void test_limits_of_pods(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct cgroup_limits limits;
        assert_int_equal(plan_limits_of_pod(read_json(arena, CASES[i].pod), &limits, NULL), 0);
        assert_int_equal(limits.cpu_shares, CASES[i].limits.cpu_shares);
        assert_int_equal(limits.cpu_quota_us, CASES[i].limits.cpu_quota_us);
        assert_int_equal(limits.memory_bytes, CASES[i].limits.memory_bytes);
        assert_int_equal(limits.pids, CASES[i].limits.pids);
    }
}

static void test_invalid_pids_limit_is_rejected(void **state)
{
    static const char *const WRONG[] = {"0", "many", "-1", "99999999"};
    for (size_t i = 0; i < ARRAY_SIZE(WRONG); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct cgroup_limits limits;
        struct err err = ERR_INIT;
        const char *text = arena_printf(
            arena, "{'metadata':{'annotations':{'trainyard.dev/pids-limit':'%s'}}}", WRONG[i]);
        assert_true(plan_limits_of_pod(read_json(arena, text), &limits, &err) < 0);
        assert_non_null(strstr(err.message, "trainyard.dev/pids-limit"));
    }
}

static void test_limits_of_a_container(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cgroup_limits limits;
    /* A container with only a limit gets the CPU shares of that limit. */
    plan_limits_of_container(
        read_json(arena, "{'resources':{'limits':{'cpu':'2','memory':'1Gi'}}}"), &limits);
    assert_int_equal(limits.cpu_shares, 2048);
    assert_int_equal(limits.cpu_quota_us, 200000);
    assert_int_equal(limits.memory_bytes, 1 << 30);
    assert_int_equal(limits.pids, 0);
}

static void test_unenforced_limits_are_named(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *both =
        read_json(arena, "{'spec':{'containers':[{'resources':{'limits':{'cpu':1}}}],"
                         "'initContainers':[{'resources':{'limits':{'memory':1}}}]}}");
    const struct json *none =
        read_json(arena, "{'spec':{'containers':[{'resources':{'requests':{'cpu':1}}}]}}");
    assert_string_equal(plan_limits_not_enforced(both, 0), "cpu and memory");
    assert_string_equal(plan_limits_not_enforced(both, CGROUP_MEMORY), "cpu");
    assert_string_equal(plan_limits_not_enforced(both, CGROUP_CPU), "memory");
    assert_null(plan_limits_not_enforced(both, CGROUP_CPU | CGROUP_MEMORY));
    assert_null(plan_limits_not_enforced(none, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_pods),
        cmocka_unit_test(test_invalid_pids_limit_is_rejected),
        cmocka_unit_test(test_limits_of_a_container),
        cmocka_unit_test(test_unenforced_limits_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
