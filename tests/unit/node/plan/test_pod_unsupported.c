/* Tests that a feature that a pod asks for and does not get here is reported once, with a message
 * that names the alternative. */
#include "node_test.h"

#include "node/plan/unsupported.h"

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    return NULL;
}

static void note(void *context, const char *reason, const char *message)
{
    buf_printf(context, "%s: %s\n", reason, message);
}

static const struct plan_unsupported_machine OF_ROOT = {.hosts = ""},
                                             NESTED = {.nested = true, .hosts = ""},
                                             PLAIN = {.nested = true, .plain = true, .hosts = ""},
                                             PLAIN_OF_ROOT = {.plain = true, .hosts = ""};

static void unsupported_features_are_reported(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    const struct node_objects objects = {get_object, NULL};
    const struct json *pod = read_json(
        arena,
        "{'metadata':{'namespace':'n'},'spec':{'hostPID':true,'securityContext':{'fsGroup':"
        "5},'containers':[{'name':'c',"
        "'securityContext':{'capabilities':{'add':['NET_RAW','NET_ADMIN','SYS_ADMIN']}}}]}}");
    buf_init(&text, 4096);
    plan_unsupported_report(arena, pod, &NESTED, &objects, note, &text);
    assert_string_equal(
        text.data,
        "Unsupported: hostPID has no effect: a pod that sees the machine's processes could inspect "
        "and end all processes of its user, including those of this cluster; use "
        "shareProcessNamespace to see the processes of the pod\nUnsupported: fsGroup 5 has no "
        "effect: pods run as an ordinary user with one group; every container can write to the "
        "volumes anyway\nUnsupported: container c does not get the capabilities it adds "
        "(NET_ADMIN, SYS_ADMIN): a container never has more capabilities than its sandbox\n");
    buf_clear(&text);
    plan_unsupported_report(arena, pod, &OF_ROOT, &objects, note, &text);
    assert_null(strstr(text.data, "fsGroup"));
    assert_non_null(strstr(text.data, "(SYS_ADMIN)"));
    buf_clear(&text);
    plan_unsupported_report(arena,
                            read_json(arena, "{'spec':{'hostname':'h','containers':[{'name':'c',"
                                             "'securityContext':{'runAsUser':5}}]}}"),
                            &PLAIN, &objects, note, &text);
    assert_string_equal(text.data,
                        "Unsupported: without namespaces these have no effect: hostname, runAsUser "
                        "and runAsGroup ('trainyard status' says how to allow namespaces)\n");
    buf_clear(&text);
    plan_unsupported_report(
        arena,
        read_json(arena, "{'spec':{'containers':[{'name':'c','terminationMessagePolicy':"
                         "'FallbackToLogsOnError'},{'name':'step','volumeMounts':["
                         "{'name':'trainyard-step','mountPath':'/trainyard'}]}]}}"),
        &PLAIN, &objects, note, &text);
    assert_string_equal(text.data, "");
    plan_unsupported_report(
        arena,
        read_json(arena, "{'spec':{'securityContext':{'runAsUser':0},'containers':[{"
                         "'name':'c','terminationMessagePolicy':'FallbackToLogsOnError',"
                         "'securityContext':{'runAsUser':5}}]}}"),
        &PLAIN_OF_ROOT, &objects, note, &text);
    assert_string_equal(text.data, "");
}

/* Every pod has the default terminationMessagePath. Only a container that uses the path, or sets
 * another, gets the message. */
static void termination_message_path_is_reported_if_used(void **state)
{
    static const struct {
        const char *container;
        bool told;
    } CASES[] = {
        {"'command':['true']", false},
        {"'command':['true'],'terminationMessagePath':'/dev/termination-log'", false},
        {"'command':['sh','-c','echo ready >/dev/termination-log']", true},
        {"'command':['true'],'terminationMessagePath':'/tmp/words'", true},
        {"'terminationMessagePath':'/tmp/words','terminationMessagePolicy':'FallbackToLogsOnError'",
         false},
    };
    const struct node_objects objects = {get_object, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_buf_ struct buf text;
        buf_init(&text, 4096);
        plan_unsupported_report(
            arena,
            read_json(arena, arena_printf(arena, "{'spec':{'containers':[{'name':'c',%s}]}}",
                                          CASES[i].container)),
            &PLAIN, &objects, note, &text);
        assert_string_equal(
            text.size ? text.data : "",
            CASES[i].told
                ? "Unsupported: without namespaces these have no effect: terminationMessagePath "
                  "(use terminationMessagePolicy FallbackToLogsOnError instead) ('trainyard "
                  "status' says how to allow namespaces)\n"
                : "");
    }
}

/* A name that exists only in a pod network. */
static void unresolvable_api_name_is_reported(void **state)
{
    static const char *const SAYING[] = {
        "'command':['curl','https://kubernetes.docker.internal:6443/version']",
        "'args':['--server','kubernetes.docker.internal']",
        "'env':[{'name':'A'},{'name':'B','value':'https://kubernetes.docker.internal'}]",
        "'command':['curl','https://kubernetes.default']",
    };
    const struct node_objects objects = {get_object, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(SAYING); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_buf_ struct buf text;
        const char *pod = arena_printf(arena,
                                       "{'spec':{'containers':[{'name':'c',%s,'terminationMessage"
                                       "Policy':'FallbackToLogsOnError'}]}}",
                                       SAYING[i]);
        buf_init(&text, 4096);
        plan_unsupported_report(arena, read_json(arena, pod), &PLAIN, &objects, note, &text);
        assert_string_equal(
            text.size ? text.data : "",
            i == ARRAY_SIZE(SAYING) - 1
                ? ""
                : "Unsupported: without namespaces these have no effect: the name "
                  "kubernetes.docker.internal (the name works once this machine's /etc/hosts maps "
                  "it to 127.0.0.1) ('trainyard status' says how to allow namespaces)\n");
        buf_clear(&text);
        plan_unsupported_report(arena, read_json(arena, pod), &NESTED, &objects, note, &text);
        assert_int_equal(text.size, 0);
    }
}

/* A container without a service account token has no KUBECONFIG that the message could point to. */
static void kubeconfig_is_named_if_the_container_has_one(void **state)
{
    static const char ASKS[] = "'args':['kubernetes.docker.internal']",
                      MOUNTS[] = "'volumeMounts':[{'name':'t','mountPath':"
                                 "'/var/run/secrets/kubernetes.io/serviceaccount'}]";
    const struct {
        const char *first, *second;
        bool is_named;
    } CASES[] = {
        {MOUNTS, "'args':[]", true},
        {"'args':[]", MOUNTS, false},
        {MOUNTS, ASKS, false},
    };
    const struct node_objects objects = {get_object, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_buf_ struct buf text;
        buf_init(&text, 4096);
        const char *pod = arena_printf(
            arena, "{'spec':{'containers':[{'name':'a',%s,%s},{'name':'b',%s}]}}",
            "'command':['curl','kubernetes.docker.internal']", CASES[i].first, CASES[i].second);
        plan_unsupported_report(arena, read_json(arena, pod), &PLAIN, &objects, note, &text);
        assert_non_null(strstr(text.data, "the name works once this machine's /etc/hosts"));
        assert_int_equal(strstr(text.data, "KUBECONFIG has") != NULL, CASES[i].is_named);
    }
}

static void resolvable_api_name_is_not_reported(void **state)
{
    static const struct {
        const char *hosts;
        bool knows;
    } CASES[] = {
        {"127.0.0.1 kubernetes.docker.internal", true},
        {"::1 localhost\n\n# ours\n \t127.0.0.1\tlocalhost  Kubernetes.Docker.Internal#x\r\n",
         true},
        {"127.0.0.1 localhost\r\n127.0.0.1 kubernetes.docker.internal\r\n", true},
        {"", false},
        {"127.0.0.1 localhost # kubernetes.docker.internal\n", false},
        {"#127.0.0.1 kubernetes.docker.internal\n", false},
        {"127.0.0.1\nkubernetes.docker.internal\n", false},
        {"10.0.0.9 kubernetes.docker.internal\n", false},
        {"127.0.0.1 kubernetes.docker.internal.example\n", false},
        {"127.0.0.1 kubernetes.docker\n", false},
        {"kubernetes.docker.internal 127.0.0.1\n", false},
    };
    const struct node_objects objects = {get_object, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_buf_ struct buf text;
        buf_init(&text, 4096);
        struct plan_unsupported_machine machine = PLAIN;
        machine.hosts = CASES[i].hosts;
        plan_unsupported_report(arena,
                                read_json(arena,
                                          "{'spec':{'containers':[{'name':'c','args':['kubernetes."
                                          "docker.internal']}]}}"),
                                &machine, &objects, note, &text);
        if ((strstr(text.data, "kubernetes.docker.internal") == NULL) != CASES[i].knows)
            fail_msg("with '%s': %s", CASES[i].hosts, text.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsupported_features_are_reported),
        cmocka_unit_test(termination_message_path_is_reported_if_used),
        cmocka_unit_test(unresolvable_api_name_is_reported),
        cmocka_unit_test(kubeconfig_is_named_if_the_container_has_one),
        cmocka_unit_test(resolvable_api_name_is_not_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
