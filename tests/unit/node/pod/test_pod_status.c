/* Tests the status of a pod for every state that its supervisor may write. */
#include "node_test.h"

#include "kube/condition.h"
#include "node/pod/status.h"

static struct pod_state pod_state_now;

static struct container_state *set_phase(const char *name, enum container_phase phase)
{
    struct container_state *container = pod_state_find(&pod_state_now, name);
    if (!container)
        container = pod_state_add(&pod_state_now, name);
    bool runs = phase == CONTAINER_RUNNING;
    *container = (struct container_state){
        .phase = phase, .started_ms = 1794744000000, .started = runs, .ready = runs};
    strcpy(container->name, name);
    return container;
}

static void set_end(struct container_end *end, int exit_code)
{
    *end = (struct container_end){.known = true,
                                  .exit_code = exit_code,
                                  .started_ms = 1794744000000,
                                  .finished_ms = 1794744001000};
    strcpy(end->reason, exit_code ? "Error" : "Completed");
}

static struct json *status(struct arena *arena, const char *pod)
{
    const struct pod_status_input input = {.pod = read_json(arena, pod),
                                           .state = pod_state_now.count ? &pod_state_now : NULL,
                                           .address = "10.244.1.2",
                                           .host_address = "127.0.0.1",
                                           .started_ms = 1794744000000,
                                           .now_ms = 1794744002000};
    struct json *object = json_object(arena);
    json_set(arena, object, "status", pod_status_build(arena, &input));
    return object;
}

static const char *phase_of(const struct json *object)
{
    return json_get_string(json_get(object, "status"), "phase", "");
}

static const struct json *container_of(const struct json *object, const char *list, size_t i)
{
    return json_element(json_at(object, "status", list, NULL), i);
}

#define ONE "{'metadata':{'name':'p','uid':'u'},'spec':{'containers':[{'name':'m','image':'i'}]}}"

static void phases_of_one_container(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    struct json *now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Pending");
    assert_false(kube_condition_is_true(now, "Ready"));
    assert_string_equal(json_get_string(json_at(container_of(now, "containerStatuses", 0), "state",
                                                "waiting", NULL),
                                        "reason", ""),
                        "ContainerCreating");

    set_phase("m", CONTAINER_RUNNING);
    now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Running");
    assert_true(kube_condition_is_true(now, "Ready"));
    assert_string_equal(json_get_string(json_get(now, "status"), "podIP", ""), "10.244.1.2");
    assert_string_equal(json_get_string(json_get(now, "status"), "startTime", ""),
                        "2026-11-15T12:00:00Z");

    struct container_state *container = set_phase("m", CONTAINER_WAITING);
    container->restarts = 3;
    strcpy(container->reason, "CrashLoopBackOff");
    set_end(&container->last, 1);
    now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Running");
    assert_false(kube_condition_is_true(now, "Ready"));
    const struct json *entry = container_of(now, "containerStatuses", 0);
    /* The third restart has not happened yet. */
    assert_int_equal(json_get_int(entry, "restartCount", 0), 2);
    assert_string_equal(json_get_string(entry, "containerID", ""), "trainyard://u/m/2");
    assert_int_equal(json_get_int(json_at(entry, "lastState", "terminated", NULL), "exitCode", 0),
                     1);

    container->pid = 1; /* is starting */
    assert_int_equal(
        json_get_int(container_of(status(arena, ONE), "containerStatuses", 0), "restartCount", 0),
        3);

    container = set_phase("m", CONTAINER_TERMINATED);
    set_end(&container->end, 0);
    pod_state_now.finished = true;
    now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Succeeded");
    assert_string_equal(json_get_string(kube_condition_get(now, "Ready"), "reason", ""),
                        "PodCompleted");
    set_end(&container->end, 137);
    container->end.signal = 9;
    now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Failed");
    assert_int_equal(json_get_int(json_at(container_of(now, "containerStatuses", 0), "state",
                                          "terminated", NULL),
                                  "signal", 0),
                     9);
}

static void pod_is_pending_until_init_containers_end(void **state)
{
    static const char pod[] = "{'metadata':{'name':'p','uid':'u'},'spec':{'initContainers':[{"
                              "'name':'i'}],'containers':[{'name':'m'}]}}";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    set_phase("i", CONTAINER_RUNNING);
    strcpy(set_phase("m", CONTAINER_WAITING)->reason, "ContainerCreating");
    struct json *now = status(arena, pod);
    assert_string_equal(phase_of(now), "Pending");
    assert_false(kube_condition_is_true(now, "Initialized"));
    assert_string_equal(json_get_string(json_at(container_of(now, "containerStatuses", 0), "state",
                                                "waiting", NULL),
                                        "reason", ""),
                        "PodInitializing");
    set_end(&set_phase("i", CONTAINER_TERMINATED)->end, 0);
    set_phase("m", CONTAINER_RUNNING);
    now = status(arena, pod);
    assert_string_equal(phase_of(now), "Running");
    assert_true(kube_condition_is_true(now, "Initialized"));
    assert_true(json_get_bool(container_of(now, "initContainerStatuses", 0), "ready", false));
    set_end(&set_phase("i", CONTAINER_TERMINATED)->end, 1);
    set_phase("m", CONTAINER_WAITING);
    pod_state_now.finished = true;
    assert_string_equal(phase_of(status(arena, pod)), "Failed");
}

/* Returns the condition without its type and time: "False ContainersNotReady containers with …". */
static const char *condition(struct arena *arena, const struct json *object, const char *type)
{
    const struct json *found = kube_condition_get(object, type);
    return arena_printf(arena, "%s %s %s", json_get_string(found, "status", ""),
                        json_get_string(found, "reason", ""),
                        json_get_string(found, "message", ""));
}

static void readiness_follows_the_probes(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    set_phase("m", CONTAINER_RUNNING)->ready = false;
    struct json *now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Running");
    assert_string_equal(condition(arena, now, "Ready"),
                        "False ContainersNotReady containers with unready status: [m]");
    assert_false(json_get_bool(container_of(now, "containerStatuses", 0), "ready", true));
    assert_true(json_get_bool(container_of(now, "containerStatuses", 0), "started", false));
    set_phase("m", CONTAINER_RUNNING)->started = false;
    now = status(arena, ONE);
    assert_false(json_get_bool(container_of(now, "containerStatuses", 0), "started", true));
}

static void readiness_gates_decide_ready(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char pod[] = "{'metadata':{'name':'p','uid':'u'},'spec':{'readinessGates':["
                              "{'conditionType':'a'},{'conditionType':'b'}],"
                              "'containers':[{'name':'m','image':'i'}]},"
                              "'status':{'conditions':[{'type':'a','status':'%s'}%s]}}";
    pod_state_release(&pod_state_now);
    set_phase("m", CONTAINER_RUNNING);
    struct json *now = status(arena, arena_printf(arena, pod, "False", ""));
    assert_true(kube_condition_is_true(now, "ContainersReady"));
    assert_string_equal(
        condition(arena, now, "Ready"),
        "False ReadinessGatesNotReady the status of pod readiness gate \"a\" is not \"True\", but "
        "False, corresponding condition of pod readiness gate \"b\" does not exist.");
    now = status(arena, arena_printf(arena, pod, "True", ",{'type':'b','status':'True'}"));
    assert_true(kube_condition_is_true(now, "Ready"));
}

static void sidecars_do_not_decide_the_phase(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char pod[] = "{'metadata':{'name':'p','uid':'u'},'spec':{"
                              "'initContainers':[{'name':'s','image':'i','restartPolicy':'Always'},"
                              "{'name':'o','image':'i'}],"
                              "'containers':[{'name':'m','image':'i'}]}}";
    pod_state_release(&pod_state_now);
    set_phase("s", CONTAINER_RUNNING)->started = false;
    set_phase("o", CONTAINER_WAITING);
    set_phase("m", CONTAINER_WAITING);
    struct json *now = status(arena, pod);
    assert_string_equal(phase_of(now), "Pending");
    assert_string_equal(condition(arena, now, "Initialized"),
                        "False ContainersNotInitialized containers with incomplete status: [s o]");
    set_phase("s", CONTAINER_RUNNING);
    set_end(&set_phase("o", CONTAINER_TERMINATED)->end, 0);
    set_phase("m", CONTAINER_RUNNING);
    now = status(arena, pod);
    assert_string_equal(phase_of(now), "Running");
    assert_true(kube_condition_is_true(now, "Ready"));
    assert_true(json_get_bool(container_of(now, "initContainerStatuses", 0), "ready", false));
    /* The sidecar crashed: the pod is not ready, but still initialized. */
    set_end(&set_phase("s", CONTAINER_WAITING)->last, 1);
    now = status(arena, pod);
    assert_string_equal(phase_of(now), "Running");
    assert_true(kube_condition_is_true(now, "Initialized"));
    assert_string_equal(condition(arena, now, "Ready"),
                        "False ContainersNotReady containers with unready status: [s]");
    set_end(&set_phase("s", CONTAINER_TERMINATED)->end, 137);
    set_end(&set_phase("m", CONTAINER_TERMINATED)->end, 0);
    pod_state_now.finished = true;
    now = status(arena, pod);
    assert_string_equal(phase_of(now), "Succeeded");
    assert_string_equal(condition(arena, now, "Initialized"), "True PodCompleted ");
    assert_false(kube_condition_is_true(now, "PodReadyToStartContainers"));
}

static void a_deadline_fails_the_pod(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    set_end(&set_phase("m", CONTAINER_TERMINATED)->end, 0); /* it ended after SIGTERM */
    pod_state_now.finished = true;
    strcpy(pod_state_now.reason, "DeadlineExceeded");
    strcpy(pod_state_now.message, "too long");
    struct json *now = status(arena, ONE);
    assert_string_equal(phase_of(now), "Failed");
    assert_string_equal(json_get_string(json_get(now, "status"), "reason", ""), "DeadlineExceeded");
    assert_string_equal(json_get_string(json_get(now, "status"), "message", ""), "too long");
}

/* A container that has never run keeps the pod pending, even if other containers run. */
static void pod_is_pending_until_all_containers_have_run(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char pod[] = "{'metadata':{'name':'p','uid':'u'},'spec':{'containers':["
                              "{'name':'m','image':'i'},{'name':'n','image':'i'}]}}";
    pod_state_release(&pod_state_now);
    set_phase("m", CONTAINER_RUNNING);
    set_phase("n", CONTAINER_WAITING);
    assert_string_equal(phase_of(status(arena, pod)), "Pending");
    set_end(&set_phase("n", CONTAINER_WAITING)->last, 1);
    assert_string_equal(phase_of(status(arena, pod)), "Running");
}

static void transition_times_are_kept(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    set_phase("m", CONTAINER_RUNNING);
    struct json *now = status(
        arena, "{'metadata':{'name':'p','uid':'u'},'spec':{'containers':[{'name':'m'}]},"
               "'status':{'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'t'},"
               "{'type':'own.dev/gate','status':'True'}]}}");
    assert_string_equal(json_get_string(kube_condition_get(now, "Ready"), "lastTransitionTime", ""),
                        "t");
    assert_string_equal(
        json_get_string(kube_condition_get(now, "Initialized"), "lastTransitionTime", ""),
        "2026-11-15T12:00:02Z");
    assert_true(kube_condition_is_true(now, "own.dev/gate"));
}

static void rejection_is_in_the_status(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct pod_status_input input = {
        .pod = read_json(arena, "{'metadata':{'uid':'u'},'spec':{'containers':[{'name':'a'},{"
                                "'name':'b'}]}}"),
        .now_ms = 1,
        .refusal_reason = "ErrImageNeverPull",
        .refusal_message = "image 'x' is not present on this machine",
        .refusal_container = "b"};
    struct json *object = json_object(arena);
    json_set(arena, object, "status", pod_status_build(arena, &input));
    assert_string_equal(phase_of(object), "Pending");
    const struct json *waiting =
        json_at(container_of(object, "containerStatuses", 1), "state", "waiting", NULL);
    assert_string_equal(json_get_string(waiting, "reason", ""), "ErrImageNeverPull");
    assert_string_equal(json_get_string(waiting, "message", ""),
                        "image 'x' is not present on this machine");
    waiting = json_at(container_of(object, "containerStatuses", 0), "state", "waiting", NULL);
    assert_string_equal(json_get_string(waiting, "reason", ""), "ContainerCreating");
}

/* The state was true only while a supervisor lived. */
static void rejected_pod_has_no_running_container(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    pod_state_release(&pod_state_now);
    set_phase("done", CONTAINER_TERMINATED);
    set_end(&pod_state_find(&pod_state_now, "done")->end, 0);
    set_phase("m", CONTAINER_RUNNING);
    const struct pod_status_input input = {
        .pod = read_json(arena, "{'metadata':{'uid':'u'},'spec':{'initContainers':[{'name':'done'"
                                "}],'containers':[{'name':'m'}]}}"),
        .state = &pod_state_now,
        .now_ms = 1,
        .refusal_reason = "NodeNotReady",
        .refusal_message = "started without it"};
    struct json *object = json_object(arena);
    json_set(arena, object, "status", pod_status_build(arena, &input));
    const struct json *main = container_of(object, "containerStatuses", 0);
    const struct json *done = container_of(object, "initContainerStatuses", 0);
    assert_string_equal(phase_of(object), "Running");
    assert_false(kube_condition_is_true(object, "Ready"));
    assert_false(json_get_bool(main, "ready", true));
    assert_false(json_get_bool(main, "started", true));
    assert_string_equal(json_get_string(json_at(main, "state", "waiting", NULL), "reason", ""),
                        "NodeNotReady");
    assert_true(json_get_bool(done, "ready", false));
    assert_string_equal(json_get_string(json_at(done, "state", "terminated", NULL), "reason", ""),
                        "Completed");
}

static void mounts_are_in_the_status(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    set_phase("m", CONTAINER_RUNNING);
    struct json *now = status(
        arena, "{'metadata':{'uid':'u'},'spec':{'containers':[{'name':'m','volumeMounts':["
               "{'name':'a','mountPath':'/a'},{'name':'b','mountPath':'/b','readOnly':true,"
               "'recursiveReadOnly':'IfPossible'},{'name':'c','mountPath':'/c','readOnly':true,"
               "'recursiveReadOnly':'Disabled'}]}]}}");
    const struct json *mounts = json_get(container_of(now, "containerStatuses", 0), "volumeMounts");
    assert_string_equal(
        json_to_string(arena, mounts),
        "[{\"name\":\"a\",\"mountPath\":\"/a\"},{\"name\":\"b\",\"mountPath\":\"/b\","
        "\"readOnly\":true,\"recursiveReadOnly\":\"Enabled\"},{\"name\":\"c\",\"mountPath\":"
        "\"/c\",\"readOnly\":true,\"recursiveReadOnly\":\"Disabled\"}]");
}

static void container_paths_are_built(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod =
        read_json(arena, "{'spec':{'initContainers':[{'name':'i'}],'containers':[{'name':'m'}]}}");
    assert_string_equal(pod_container_path(arena, pod, "i"), "spec.initContainers{i}");
    assert_string_equal(pod_container_path(arena, pod, "m"), "spec.containers{m}");
    assert_string_equal(pod_container_path(arena, pod, "x"), "");
    assert_string_equal(pod_container_path(arena, pod, ""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_of_one_container),
        cmocka_unit_test(pod_is_pending_until_init_containers_end),
        cmocka_unit_test(readiness_follows_the_probes),
        cmocka_unit_test(readiness_gates_decide_ready),
        cmocka_unit_test(sidecars_do_not_decide_the_phase),
        cmocka_unit_test(a_deadline_fails_the_pod),
        cmocka_unit_test(pod_is_pending_until_all_containers_have_run),
        cmocka_unit_test(transition_times_are_kept),
        cmocka_unit_test(rejection_is_in_the_status),
        cmocka_unit_test(rejected_pod_has_no_running_container),
        cmocka_unit_test(mounts_are_in_the_status),
        cmocka_unit_test(container_paths_are_built),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pod_state_release(&pod_state_now);
    return failed;
}
