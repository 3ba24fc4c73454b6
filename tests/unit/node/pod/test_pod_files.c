/* Tests that the files and messages between the node and a supervisor keep their format, because a
 * running supervisor may be of an earlier version. The texts below contain every key. They are
 * read, and writing the result gives the same bytes. */
#include "node_test.h"

#include "node/pod/record/request.h"
#include "node/pod/record/spec.h"
#include "node/pod/record/stop.h"
#include "scratch_directory.h"

static const char SPEC[] = "boot 4f0c-1\n"
                           "hostname w-0\n"
                           "network /state/run/holder\n"
                           "address 10.244.1.2\n"
                           "nested 1\n"
                           "machine-ipc 0\n"
                           "share-processes 1\n"
                           "plain 0\n"
                           "restart OnFailure\n"
                           "identity w-0_default(uid)\n"
                           "grace 30000\n"
                           "deadline 1794709795247\n"
                           "prober /usr/bin/trainyard\n"
                           "hosts 127.0.0.1\tlocalhost\\nback\\\\slash\\n\n"
                           "resolv-conf nameserver 10.96.0.10\\n\n"
                           "mask /root\n"
                           "mask /home\n"
                           "share /data set\n"
                           "secrets /state/secrets\n"
                           "cpu-shares 1\n"
                           "cpu-quota 2\n"
                           "memory-limit 3\n"
                           "pids-limit 4\n"
                           "sysctl net.a=b c\n"
                           "extra-group 42\n"
                           "volume-memory /m/1\n"
                           "volume-memory-size 4096\n"
                           "volume-memory-group -1\n"
                           "init first\n"
                           "sidecar 1\n"
                           "container-restart Always\n"
                           "arg true\n"
                           "user -1\n"
                           "group -1\n"
                           "capabilities 0\n"
                           "unconfined 0\n"
                           "read-only-root 0\n"
                           "message-from-log 0\n"
                           "stop-signal 0\n"
                           "stdin 0\n"
                           "stdin-once 0\n"
                           "terminal 0\n"
                           "container main\n"
                           "sidecar 0\n"
                           "restart-rule In 3 42\n"
                           "restart-rule NotIn 0\n"
                           "image trainer:1\n"
                           "arg sh\n"
                           "arg two\\nlines\n"
                           "env A=b c\n"
                           "directory /work\n"
                           "user 1000\n"
                           "group 100\n"
                           "capabilities 5\n"
                           "unconfined 1\n"
                           "read-only-root 1\n"
                           "message-from-log 1\n"
                           "root /images/1\n"
                           "layer /layers/1\n"
                           "image-id sha256:1\n"
                           "stop-signal 2\n"
                           "stdin 1\n"
                           "stdin-once 1\n"
                           "terminal 1\n"
                           "memory-limit 5\n"
                           "device /dev/nvidia0\n"
                           "mount /data\n"
                           "source /srv\n"
                           "read-only 1\n"
                           "only-top 1\n"
                           "mount /data/deep\n"
                           "source /x\n"
                           "sub-path a/b\n"
                           "read-only 0\n"
                           "only-top 0\n"
                           "probe readiness\n"
                           "probe-delay 1\n"
                           "probe-period 2\n"
                           "probe-timeout 3\n"
                           "probe-success 4\n"
                           "probe-failure 5\n"
                           "probe-grace -1\n"
                           "handler http\n"
                           "handler-host 10.244.1.2\n"
                           "handler-port 8080\n"
                           "handler-path /healthz\n"
                           "handler-tls 1\n"
                           "handler-header Host: a b\n"
                           "handler-service s\n"
                           "handler-sleep 0\n"
                           "hook post-start\n"
                           "handler exec\n"
                           "handler-word true\n"
                           "handler-word \n"
                           "handler-port 0\n"
                           "handler-tls 0\n"
                           "handler-sleep 0\n"
                           "hook pre-stop\n"
                           "handler sleep\n"
                           "handler-port 0\n"
                           "handler-tls 0\n"
                           "handler-sleep 1500\n";

static const char STATE[] = "pod-finished 1\n"
                            "pod-reason Evicted\n"
                            "pod-message The pod used too much.\n"
                            "news 7\n"
                            "news-warning 1\n"
                            "news-container main\n"
                            "news-reason BackOff\n"
                            "news-message Back-off restarting\n"
                            "news 8\n"
                            "news-warning 0\n"
                            "news-container \n"
                            "news-reason Evicted\n"
                            "news-message too much\n"
                            "container main\n"
                            "image trainer:1\n"
                            "image-id sha256:1\n"
                            "phase running\n"
                            "reason \n"
                            "message \n"
                            "started 1794709795247\n"
                            "next-start 0\n"
                            "pid 4711\n"
                            "restarts 3\n"
                            "level 4\n"
                            "is-started 1\n"
                            "is-ready 0\n"
                            "end last\n"
                            "exit 139\n"
                            "signal 11\n"
                            "started 5\n"
                            "finished 6\n"
                            "reason Error\n"
                            "message two\\nlines \\\\n\n"
                            "container side\n"
                            "image \n"
                            "image-id \n"
                            "phase terminated\n"
                            "reason \n"
                            "message \n"
                            "started 1\n"
                            "next-start 2\n"
                            "pid 0\n"
                            "restarts 0\n"
                            "level 0\n"
                            "is-started 0\n"
                            "is-ready 0\n"
                            "end now\n"
                            "exit 0\n"
                            "signal 0\n"
                            "started 1\n"
                            "finished 2\n"
                            "reason Completed\n"
                            "message \n";

static const char *const REQUESTS[] = {
    "kind exec\ncontainer main\nstdin 1\nstdout 0\nstderr 1\nterminal 1\narg sh\narg \n",
    "kind attach\ncontainer main\nstdin 0\nstdout 1\nstderr 1\nterminal 0\n",
};

static const char *const ANSWERS[] = {
    "kind started\n",
    "kind refused\ncode 5\nmessage container 'x' is not\\none of the pod's\n",
    "kind ended\nexit-code 127\nmessage cannot run 'x'\n",
};

static const char STOP[] = "grace 1500\nreason Evicted\nmessage too much\n";

static void spec_format_is_stable(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    struct pod_spec spec;
    struct err err = ERR_INIT;
    if (pod_spec_parse(arena, arena_strdup(arena, SPEC), strlen(SPEC), &spec, &err) < 0)
        fail_msg("%s", err.message);
    pod_spec_write(&spec, &text);
    assert_string_equal(text.data, SPEC);
    assert_int_equal(spec.containers[1].life.probes[PROBE_READINESS].port, 8080);
    assert_int_equal(spec.containers[1].life.settings[PROBE_READINESS].failure_threshold, 5);
    assert_int_equal(spec.containers[1].limits.memory_bytes, 5);
    assert_int_equal(spec.containers[0].restart, RESTART_ALWAYS);
}

static void state_format_is_stable(void **state)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    _cleanup_free_ char *copy = mem_strdup(STATE);
    _cleanup_pod_state_ struct pod_state read = {0};
    struct err err = ERR_INIT;
    if (pod_state_parse(copy, strlen(copy), &read, &err) < 0)
        fail_msg("%s", err.message);
    pod_state_write(&read, &text);
    assert_string_equal(text.data, STATE);
    assert_int_equal(read.containers[0].pid, 4711);
    assert_int_equal(read.containers[1].end.finished_ms, 2);
}

/* A supervisor without probes writes no readiness. Its containers are ready while they run. */
static void state_without_probes_is_read(void **state)
{
    char text[] =
        "pod-finished 0\ncontainer main\nphase running\nstarted 1\ncontainer next\nphase waiting\n";
    _cleanup_pod_state_ struct pod_state read = {0};
    assert_int_equal(pod_state_parse(text, strlen(text), &read, NULL), 0);
    assert_true(read.containers[0].started && read.containers[0].ready);
    assert_false(read.containers[1].started || read.containers[1].ready);
}

static void request_format_is_stable(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(REQUESTS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_buf_ struct buf text;
        buf_init(&text, POD_REQUEST_MAX);
        struct pod_request request;
        char *copy = arena_strdup(arena, REQUESTS[i]);
        assert_int_equal(pod_request_parse(arena, copy, strlen(copy), &request, NULL), 0);
        assert_int_equal(pod_request_write(&request, &text, NULL), 0);
        assert_string_equal(text.data, REQUESTS[i]);
    }
}

static void answer_format_is_stable(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ANSWERS); i++) {
        _cleanup_free_ char *copy = mem_strdup(ANSWERS[i]);
        _cleanup_buf_ struct buf text;
        buf_init(&text, POD_ANSWER_MAX);
        struct pod_answer answer;
        assert_int_equal(pod_answer_parse(copy, strlen(copy), &answer, NULL), 0);
        pod_answer_write(&answer, &text);
        assert_string_equal(text.data, ANSWERS[i]);
    }
}

static void stop_format_is_stable(void **state)
{
    _cleanup_free_ char *path = mem_printf("%s/stop", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    struct pod_stop stop = {0};
    assert_int_equal(file_replace(path, STOP, strlen(STOP), 0600, NULL), 0);
    pod_stop_load(directory, &stop);
    assert_int_equal(stop.grace_ms, 1500);
    assert_string_equal(stop.reason, "Evicted");
    assert_int_equal(pod_stop_store(directory, &stop, NULL), 0);
    assert_int_equal(file_read(path, &text, NULL), 0);
    assert_string_equal(text.data, STOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_format_is_stable),        cmocka_unit_test(state_format_is_stable),
        cmocka_unit_test(state_without_probes_is_read), cmocka_unit_test(request_format_is_stable),
        cmocka_unit_test(answer_format_is_stable),      cmocka_unit_test(stop_format_is_stable),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
