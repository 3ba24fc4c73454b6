/* From a Pod to its supervisor's orders, and the refusals people will read. */
#include "node_test.h"

#include "base/file.h"
#include "node/image_table.h"
#include "node/peers.h"
#include "node/pod_plan.h"

#include <stdlib.h>

static char root[] = "/tmp/trainyard-plan.XXXXXX";

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    return NULL;
}

static int plan_pod(struct arena *arena, const struct json *pod, struct pod_spec *ret,
                    struct pod_plan_refusal *refusal, struct err *err)
{
    const struct node_objects objects = {get_object, NULL};
    const struct pod_plan_input input = {
        .pod = pod,
        .state_dir = root,
        .pod_dir = arena_printf(arena, "%s/pod", root),
        .network = "/run/holder",
        .nested = true,
        .address = "10.244.1.2",
        .host_address = "127.0.0.1",
        .trainer_path = "/opt/trainer",
        .home = "/home/me",
        .machine_resolv_conf = "nameserver 9.9.9.9\n",
        .images = read_json(arena, "{'known':['/bin/known','--flag']}"),
        .objects = &objects,
    };
    return pod_plan(arena, &input, ret, refusal, err);
}

static int plan(struct arena *arena, const char *spec, struct pod_spec *ret,
                struct pod_plan_refusal *refusal, struct err *err)
{
    struct json *pod = read_json(arena, "{'metadata':{'name':'w-0','namespace':'n','uid':'u'}}");
    json_set(arena, pod, "spec", read_json(arena, spec));
    return plan_pod(arena, pod, ret, refusal, err);
}

static void a_whole_pod(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct pod_plan_refusal refusal;
    struct err err = ERR_INIT;
    if (plan(arena,
             "{'restartPolicy':'OnFailure','subdomain':'ring',"
             " 'securityContext':{'runAsUser':1000},"
             " 'hostAliases':[{'ip':'1.2.3.4','hostnames':['x','y']}],"
             " 'volumes':[{'name':'v','emptyDir':{}}],"
             " 'initContainers':[{'name':'first','image':'known'}],"
             " 'containers':[{'name':'main','image':'any','command':['sh','-c'],'args':['echo "
             "$(WHO)'],'env':[{'name':'WHO','value':'you'}],'workingDir':'/work',"
             "  'securityContext':{'runAsUser':7,'runAsGroup':8},"
             "  'volumeMounts':[{'name':'v','mountPath':'/data/','subPath':'a','readOnly':true}]}]"
             "}",
             &spec, &refusal, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(spec.hostname, "w-0");
    assert_string_equal(spec.network, "/run/holder");
    assert_true(spec.nested);
    assert_int_equal(spec.restart, RESTART_ON_FAILURE);
    assert_non_null(strstr(spec.hosts, "10.244.1.2\tw-0.ring.n.svc.cluster.local\tw-0\n"));
    assert_non_null(strstr(spec.hosts, "1.2.3.4\tx\ty\n"));
    assert_string_equal(spec.resolv_conf,
                        "search n.svc.cluster.local svc.cluster.local cluster.local\n"
                        "nameserver 10.244.0.1\noptions ndots:5\n");
    assert_string_equal(spec.masks.items[0], root);
    assert_string_equal(spec.masks.items[1], "/root");
    assert_string_equal(spec.masks.items[2], "/home/me/.ssh");
    const struct pod_container *first = &spec.containers[0], *main = &spec.containers[1];
    assert_true(first->init);
    assert_string_equal(first->arguments.items[1], "--flag");
    assert_int_equal(first->user, 1000);
    assert_int_equal(main->user, 7);
    assert_int_equal(main->group, 8);
    assert_string_equal(main->arguments.items[2], "echo you");
    assert_string_equal(main->directory, "/work");
    assert_string_equal(environment_get(&main->environment, "HOSTNAME"), "w-0");
    assert_string_equal(environment_get(&main->environment, "HOME"), "/tmp");
    assert_int_equal(main->mount_count, 3);
    assert_string_equal(main->mounts[0].target, "/data");
    assert_string_equal(main->mounts[0].sub_path, "a");
    assert_true(main->mounts[0].read_only);
    assert_string_equal(main->mounts[1].target, "/dev/termination-log");
    assert_false(main->mounts[1].read_only);
    assert_string_equal(main->mounts[2].target, IMAGE_TRAINER_PATH);
    assert_string_equal(main->mounts[2].source, "/opt/trainer");
}

/* What is mounted below /root is found as ~. */
static void home_follows_mounts(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct pod_plan_refusal refusal;
    struct err err = ERR_INIT;
    if (plan(arena,
             "{'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'main','image':'any',"
             "'command':['sh'],'volumeMounts':[{'name':'v','mountPath':'/root/.kube'}]},"
             "{'name':'other','image':'any','command':['sh'],"
             "'env':[{'name':'HOME','value':'/mine'}],"
             "'volumeMounts':[{'name':'v','mountPath':'/root/.kube'}]}]}",
             &spec, &refusal, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(environment_get(&spec.containers[0].environment, "HOME"), "/root");
    assert_string_equal(environment_get(&spec.containers[1].environment, "HOME"), "/mine");
}

static const struct pod_mount *mount_at(const struct pod_container *container, const char *target)
{
    for (size_t i = 0; i < container->mount_count; i++)
        if (str_eq(container->mounts[i].target, target))
            return &container->mounts[i];
    return NULL;
}

static void host_network(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct pod_plan_refusal refusal;
    assert_int_equal(plan(arena,
                          "{'hostNetwork':true,'containers':[{'name':'m','command':['true']}]}",
                          &spec, &refusal, NULL),
                     0);
    assert_null(spec.network);
    assert_string_equal(spec.resolv_conf, "nameserver 9.9.9.9\n");
    const struct pod_container *container = &spec.containers[0];
    const struct pod_mount *hosts = mount_at(container, "/etc/hosts");
    assert_non_null(hosts);
    assert_true(hosts->read_only);
    assert_true(str_has_suffix(hosts->source, "/hosts"));
}

/* Every container of a job's pod sees what the job's pods share, but not over what it mounts
 * itself. */
static void peers_of_a_job(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct pod_plan_refusal refusal;
    struct err err = ERR_INIT;
    struct json *pod = read_json(
        arena,
        "{'metadata':{'name':'w-0','namespace':'n','uid':'u','ownerReferences':[{'apiVersion':"
        "'kubeflow.org/v1','kind':'TFJob','name':'j','uid':'7','controller':true}]},"
        "'spec':{'volumes':[{'name':'v','emptyDir':{}}],"
        "'initContainers':[{'name':'first','command':['true']}],"
        "'containers':[{'name':'main','command':['true']},{'name':'own','command':['true'],"
        "'volumeMounts':[{'name':'v','mountPath':'/run/trainyard/peers'}]}]}}");
    if (plan_pod(arena, pod, &spec, &refusal, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < 2; i++) {
        const struct pod_mount *mount = mount_at(&spec.containers[i], PEERS_MOUNT);
        assert_non_null(mount);
        assert_true(str_has_suffix(mount->source, "/peers/n.7"));
        assert_true(file_exists(mount->source));
        assert_false(mount->read_only);
    }
    const struct pod_mount *own = mount_at(&spec.containers[2], PEERS_MOUNT);
    assert_true(str_has_suffix(own->source, "/volumes/v"));
}

static void refusals(void **state)
{
    static const struct {
        const char *spec, *reason, *container, *message;
        bool may_heal;
    } CASES[] = {
        {"{'containers':[{'name':'m','image':'x'}]}", "ErrImageNeverPull", "m",
         "image 'x' is not known here", true},
        {"{'containers':[{'name':'m','command':['a'],'volumeMounts':[{'name':'v','mountPath':'/x'"
         "}]}]}",
         "CreateContainerConfigError", "m", "names no volume of the pod", false},
        {"{'containers':[{'name':'m','command':['a'],'securityContext':{'privileged':true}}]}",
         "CreateContainerConfigError", "m", "privileged containers are not supported", false},
        {"{'containers':[{'name':'m','command':['a'],'securityContext':{'runAsNonRoot':true}}]}",
         "CreateContainerConfigError", "m", "give it a runAsUser", false},
        {"{'volumes':[{'name':'v','configMap':{'name':'none'}}],'containers':[{'name':'m',"
         "'command':['a']}]}",
         "FailedMount", NULL, "configmap 'none' not found", true},
        {"{'restartPolicy':'x','containers':[]}", "CreateContainerConfigError", NULL,
         "restart policy 'x'", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec;
        struct pod_plan_refusal refusal = {0};
        struct err err = ERR_INIT;
        assert_true(plan(arena, CASES[i].spec, &spec, &refusal, &err) < 0);
        assert_string_equal(refusal.reason, CASES[i].reason);
        assert_true(str_eq(refusal.container, CASES[i].container));
        assert_int_equal(refusal.may_heal, CASES[i].may_heal);
        if (!strstr(err.message, CASES[i].message))
            fail_msg("'%s'", err.message);
    }
}

static void long_names_are_cut(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = read_json(arena, "{'metadata':{}}");
    char name[100];
    memset(name, 'a', sizeof(name));
    name[62] = '-';
    name[sizeof(name) - 1] = '\0';
    json_set_string(arena, json_get(pod, "metadata"), "name", name);
    assert_int_equal(strlen(pod_hostname(arena, pod)), 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_pod),        cmocka_unit_test(home_follows_mounts),
        cmocka_unit_test(host_network),       cmocka_unit_test(refusals),
        cmocka_unit_test(long_names_are_cut), cmocka_unit_test(peers_of_a_job),
    };
    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(root, NULL);
    return failed;
}
