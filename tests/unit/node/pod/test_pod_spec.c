/* Tests that specs and states survive being written and read, and that a malformed one is rejected
 * with its line. */
#include "node_test.h"

#include "node/pod/record/record.h"
#include "node/pod/record/spec.h"
#include "node/pod/record/state.h"
#include "scratch_directory.h"

static int parse(struct arena *arena, const char *text, struct pod_spec *spec, struct err *err)
{
    return pod_spec_parse(arena, arena_strdup(arena, text), strlen(text), spec, err);
}

static void spec_round_trip(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    struct pod_spec spec = {.hostname = "w-0",
                            .network = "/state/run/holder",
                            .address = "10.244.1.2",
                            .nested = true,
                            .restart = RESTART_ON_FAILURE,
                            .hosts = "127.0.0.1\tlocalhost\nback\\slash\n"};
    pod_strings_add(arena, &spec.masks, "/root");
    pod_strings_add(arena, &spec.shares, "/data set");
    spec.secrets = "/state/secrets";
    struct pod_container *first = pod_spec_add_container(arena, &spec, "first");
    first->init = true;
    pod_strings_add(arena, &first->arguments, "true");
    struct pod_container *main = pod_spec_add_container(arena, &spec, "main");
    for (int i = 0; i < 40; i++)
        pod_strings_add(arena, &main->arguments, i == 7 ? "two\nlines" : "");
    pod_strings_add(arena, &main->environment, "A=b c");
    main->user = 1000;
    pod_container_add_mount(arena, main, "/data/deep", "/x");
    pod_container_add_mount(arena, main, "/data", "/srv")->read_only = true;
    pod_container_add_mount(arena, main, "/data/mid", "/y")->sub_path = "a/b";
    spec.limits = (struct cgroup_limits){1, 2, 3, 4};
    main->limits.memory_bytes = 5;
    main->capabilities = 5;
    main->unconfined = main->read_only = true;
    pod_strings_add(arena, &spec.sysctls, "net.a=b c");
    spec.extra_groups[spec.extra_group_count++] = 42;
    pod_spec_add_memory(arena, &spec, "/m/1")->size = 4096;
    pod_spec_add_memory(arena, &spec, "/m/2")->group = 7;
    pod_strings_add(arena, &main->devices, "/dev/nvidia0");
    spec.shares_processes = true;
    const int codes[] = {3, 42};
    *pod_container_add_rule(arena, main) = (struct restart_rule){.codes = codes, .count = 2};
    *pod_container_add_rule(arena, main) = (struct restart_rule){.not_in = true, .codes = codes};
    pod_spec_write(&spec, &text);

    struct pod_spec read;
    struct err err = ERR_INIT;
    if (pod_spec_parse(arena, text.data, text.size, &read, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(read.hostname, "w-0");
    assert_string_equal(read.hosts, spec.hosts);
    assert_null(read.resolv_conf);
    assert_true(read.nested);
    assert_int_equal(read.restart, RESTART_ON_FAILURE);
    assert_true(read.shares_processes);
    assert_int_equal(read.container_count, 2);
    const struct restart_rules *rules = &read.containers[1].rules;
    assert_int_equal(rules->count, 2);
    assert_int_equal(rules->items[0].count, 2);
    assert_int_equal(rules->items[0].codes[1], 42);
    assert_true(rules->items[1].not_in && rules->items[1].count == 0);
    assert_true(read.containers[0].init);
    assert_int_equal(read.containers[1].arguments.count, 40);
    assert_string_equal(read.containers[1].arguments.items[7], "two\nlines");
    assert_string_equal(read.containers[1].arguments.items[39], "");
    assert_null(read.containers[1].arguments.items[40]);
    assert_int_equal(read.containers[1].user, 1000);
    assert_int_equal(read.containers[1].devices.count, 1);
    assert_string_equal(read.containers[1].devices.items[0], "/dev/nvidia0");
    assert_int_equal(read.containers[1].group, -1);
    assert_int_equal(read.containers[1].capabilities, 5);
    assert_true(read.containers[1].unconfined && read.containers[1].read_only);
    assert_false(read.containers[0].unconfined || read.containers[0].read_only);
    assert_string_equal(read.sysctls.items[0], "net.a=b c");
    assert_string_equal(read.shares.items[0], "/data set");
    assert_true(read.extra_group_count == 1 && read.extra_groups[0] == 42);
    assert_int_equal(read.memory_count, 2);
    assert_true(read.memories[0].size == 4096 && read.memories[0].group == -1);
    assert_true(read.memories[1].size == 0 && read.memories[1].group == 7);
    const struct pod_mount *mounts = read.containers[1].mounts;
    assert_int_equal(read.containers[1].mount_count, 3);
    assert_string_equal(mounts[0].target, "/data"); /* a mount comes before mounts below it */
    assert_string_equal(mounts[0].source, "/srv");
    assert_true(mounts[0].read_only);
    assert_string_equal(mounts[1].target, "/data/mid");
    assert_string_equal(mounts[1].sub_path, "a/b");
    assert_string_equal(mounts[2].target, "/data/deep");
    assert_memory_equal(&read.limits, &spec.limits, sizeof(spec.limits));
    assert_int_equal(read.containers[0].limits.memory_bytes, 0);
    assert_int_equal(read.containers[1].limits.memory_bytes, 5);
}

/* A file that was not synced before a power cut is no spec. */
static void specs_are_stored_in_files(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec = {.hostname = "w-0", .boot = "this one"}, read;
    struct err err = ERR_INIT;
    assert_int_equal(pod_spec_load(arena, directory, &read, &err), -ERR_NOT_FOUND);
    pod_strings_add(arena, &pod_spec_add_container(arena, &spec, "main")->arguments, "true");
    assert_int_equal(pod_spec_store(directory, &spec, &err), 0);
    assert_int_equal(pod_spec_load(arena, directory, &read, &err), 0);
    assert_string_equal(read.boot, "this one");
    assert_string_equal(read.hostname, "w-0");
    const char *path = arena_printf(arena, "%s/spec", directory);
    assert_int_equal(file_replace(path, "", 0, 0600, &err), 0);
    assert_int_equal(pod_spec_load(arena, directory, &read, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, path));
}

static void malformed_specs_are_rejected(void **state)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"", "no hostname"},
        {"hostname a\n", "no container"},
        {"hostname a\ncontainer m\n", "'m' has no command"},
        {"hostname a\ncontainer ../m\narg x\n", "not a valid container name"},
        {"hostname a\nnetwork /x\ncontainer m\narg x\n", "no address"},
        {"hostname a\npids-limit -1\n", "line 2: pids-limit"},
        {"hostname a\nwhat x\n", "line 2: unknown key 'what'"},
        {"hostname a", "line 1 is cut short"},
        {"hostname\n", "line 1 is not 'key value'"},
        {"hostname a\\t\n", "line 1 has an unknown escape"},
        {"hostname a\\", "cut short"},
        {"arg x\n", "unknown key 'arg'"},
        {"hostname a\nnested maybe\n", "nested"},
        {"hostname a\nrestart x\n", "unknown restart 'x'"},
        {"hostname a\ncontainer m\narg x\ninit i\narg x\n", "after a main container"},
        {"hostname a\ncontainer m\narg x\nmount relative\nsource /x\n", "unknown key 'source'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec;
        struct err err = ERR_INIT;
        if (parse(arena, CASES[i].text, &spec, &err) >= 0 || !strstr(err.message, CASES[i].message))
            fail_msg("'%s': '%s'", CASES[i].text, err.message);
    }
}

static void too_many_containers_are_rejected(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (int count = POD_CONTAINERS_MAX; count <= POD_CONTAINERS_MAX + 1; count++) {
        _cleanup_buf_ struct buf text;
        buf_init(&text, POD_SPEC_MAX);
        record_write(&text, "hostname", "a");
        for (int i = 0; i < count; i++) {
            record_write(&text, "container", "m");
            record_write(&text, "arg", "x");
        }
        struct pod_spec spec;
        struct err err = ERR_INIT;
        int result = pod_spec_parse(arena, text.data, text.size, &spec, &err);
        assert_int_equal(result == -ERR_TOO_MANY, count > POD_CONTAINERS_MAX);
    }
}

static void state_round_trip(void **state)
{
    _cleanup_pod_state_ struct pod_state wrote = {.finished = true}, read = {0};
    pod_state_add(&wrote, "main");
    pod_state_add(&wrote, "side");
    struct container_state *first = &wrote.containers[0];
    first->phase = CONTAINER_WAITING;
    strcpy(first->reason, "CrashLoopBackOff");
    first->restarts = 3;
    first->level = 4;
    first->next_start_ms = 1794709795247;
    first->last = (struct container_end){
        .known = true, .exit_code = 139, .signal = 11, .started_ms = 5, .finished_ms = 6};
    strcpy(first->last.reason, "Error");
    strcpy(first->last.message, "two\nlines \\n");
    wrote.containers[1].phase = CONTAINER_TERMINATED;
    wrote.containers[1].end.known = true;
    pod_state_record_event(&wrote, "main", true, "BackOff", "for %d s", 10);
    pod_state_record_event(&wrote, NULL, false, "Evicted", "too much");
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    pod_state_write(&wrote, &text);
    struct err err = ERR_INIT;
    if (pod_state_parse(text.data, text.size, &read, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(read.finished);
    assert_int_equal(read.count, 2);
    assert_memory_equal(wrote.containers, read.containers, 2 * sizeof(*read.containers));
    assert_ptr_equal(pod_state_find(&read, "side"), &read.containers[1]);
    assert_null(pod_state_find(&read, "none"));
    for (int64_t number = 1; number <= 2; number++)
        assert_memory_equal(pod_state_event(&read, number), pod_state_event(&wrote, number),
                            sizeof(struct pod_event));
}

static void malformed_states_are_rejected(void **state)
{
    static const char *const CASES[] = {"phase running\n",
                                        "container m\nphase dancing\n",
                                        "container m\nrestarts -1\n",
                                        "container m\nexit 1\n",
                                        "container m\nend now\nphase running\n",
                                        "container m"};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_pod_state_ struct pod_state read = {0};
        char *text = mem_strdup(CASES[i]);
        struct err err = ERR_INIT;
        if (pod_state_parse(text, strlen(text), &read, &err) >= 0)
            fail_msg("'%s' was accepted", CASES[i]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_round_trip),
        cmocka_unit_test(malformed_specs_are_rejected),
        cmocka_unit_test(too_many_containers_are_rejected),
        cmocka_unit_test(state_round_trip),
        cmocka_unit_test(malformed_states_are_rejected),
        cmocka_unit_test(specs_are_stored_in_files),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
