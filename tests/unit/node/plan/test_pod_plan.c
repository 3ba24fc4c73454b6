/* Tests how a Pod becomes the orders of its supervisor, and the messages of rejected pods. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/gpus.h"
#include "node/image/table.h"
#include "node/plan/capabilities.h"
#include "node/plan/environment.h"
#include "node/plan/plan.h"
#include "node/pod/peers.h"

#include <stdlib.h>
#include <unistd.h>

static char root[] = "/tmp/trainyard-plan.XXXXXX";

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    return NULL;
}

static bool is_plain;
static const char *const *shares;

static int plan_json(struct arena *arena, const struct json *pod, struct pod_spec *ret,
                     struct plan_refusal *refusal, struct err *err)
{
    const struct node_objects objects = {get_object, NULL};
    const struct plan_input input = {
        .pod = pod,
        .state_dir = root,
        .pod_dir = arena_printf(arena, "%s/pod", root),
        .network = "/run/holder",
        .nested = true,
        .plain = is_plain,
        .api_port = 7443,
        .address = "10.244.1.2",
        .host_address = "127.0.0.1",
        .trainer_path = "/opt/trainer",
        .home = "/home/me",
        .shares = shares,
        .machine_resolv_conf = "nameserver 9.9.9.9\n",
        .images = read_json(
            arena, arena_printf(arena,
                                "{'known':['/bin/known','--flag'],"
                                " 'rooted':{'command':['/entry'],'args':['cmd'],'rootfs':'%s',"
                                "  'env':['PATH=/image','MODE=image'],'workdir':'/there',"
                                "  'user':'12:34','stopSignal':'SIGQUIT','digest':'sha256:ab'},"
                                " 'empty':{'rootfs':'%s'},"
                                " 'relative':{'command':['x'],'workdir':'src'},"
                                " 'named':{'rootfs':'%s','user':'app:34','command':['x']},"
                                " 'gone':{'digest':'sha256:cd','command':['x']}}",
                                root, root, root)),
        .objects = &objects,
    };
    return plan_pod(arena, &input, ret, refusal, err);
}

static int plan(struct arena *arena, const char *spec, struct pod_spec *ret,
                struct plan_refusal *refusal, struct err *err)
{
    struct json *pod = read_json(arena, "{'metadata':{'name':'w-0','namespace':'n','uid':'u'}}");
    json_set(arena, pod, "spec", read_json(arena, spec));
    return plan_json(arena, pod, ret, refusal, err);
}

static struct pod_spec must_plan(struct arena *arena, const char *spec)
{
    struct pod_spec planned;
    struct plan_refusal refusal;
    struct err err = ERR_INIT;
    if (plan(arena, spec, &planned, &refusal, &err) < 0)
        fail_msg("%s", err.message);
    return planned;
}

static void pod_with_all_fields_is_planned(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec = must_plan(
        arena,
        "{'restartPolicy':'OnFailure','subdomain':'ring',"
        " 'securityContext':{'runAsUser':1000},"
        " 'hostAliases':[{'ip':'1.2.3.4','hostnames':['x','y']}],"
        " 'volumes':[{'name':'v','emptyDir':{}}],"
        " 'initContainers':[{'name':'first','image':'known'}],"
        " 'containers':[{'name':'main','image':'any','command':['sh','-c'],'args':['echo "
        "$(WHO)'],'env':[{'name':'WHO','value':'you'}],'workingDir':'/work',"
        "  'securityContext':{'runAsUser':7,'runAsGroup':8},"
        "  'volumeMounts':[{'name':'v','mountPath':'/data/','subPath':'a','readOnly':true}]}]"
        "}");
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

static bool has_share(const struct pod_container *container, const char *path)
{
    for (size_t i = 0; i < container->mount_count; i++)
        if (str_eq(container->mounts[i].target, path))
            return str_eq(container->mounts[i].source, path) && !container->mounts[i].read_only;
    return false;
}

/* Shared directories are mounted in every container, also of an image, but not over a volume. */
static void shared_directories_are_mounted(void **state)
{
    static const char *const SHARES[] = {"/data/set", "/tmp/me", NULL};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    shares = SHARES;
    struct pod_spec spec = must_plan(
        arena, "{'volumes':[{'name':'v','emptyDir':{}}],'containers':["
               "{'name':'a','command':['x']},{'name':'b','image':'rooted'},"
               "{'name':'c','command':['x'],'volumeMounts':[{'name':'v','mountPath':'/data'}]}]}");
    shares = NULL;
    assert_int_equal(spec.shares.count, 2);
    for (size_t i = 0; i < spec.container_count; i++) {
        assert_int_equal(has_share(&spec.containers[i], "/data/set"), i < 2);
        assert_true(has_share(&spec.containers[i], "/tmp/me"));
    }
}

/* A mount below /root is also found below ~. */
static void home_is_root_if_a_mount_is_below_it(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec = must_plan(
        arena, "{'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'main','image':'any',"
               "'command':['sh'],'volumeMounts':[{'name':'v','mountPath':'/root/.kube'}]},"
               "{'name':'other','image':'any','command':['sh'],"
               "'env':[{'name':'HOME','value':'/mine'}],"
               "'volumeMounts':[{'name':'v','mountPath':'/root/.kube'}]}]}");
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

static const struct pod_container *plan_one(struct arena *arena, const char *container)
{
    return must_plan(arena, arena_printf(arena, "{'containers':[{'name':'m',%s}]}", container))
        .containers;
}

/* Like Kubernetes: a command replaces the image's entrypoint and arguments, and arguments replace
 * only its arguments. */
static void commands_of_images_are_combined(void **state)
{
    static const struct {
        const char *container, *words;
    } CASES[] = {
        {"'image':'rooted'", "/entry cmd"},
        {"'image':'rooted','args':['a','b']", "/entry a b"},
        {"'image':'rooted','command':['c']", "c"},
        {"'image':'rooted','command':['c'],'args':['a']", "c a"},
        {"'image':'empty','args':['a']", "a"},
        {"'image':'known:7','args':['a']", "/bin/known --flag a"},
        {"'image':'unknown','command':['c']", "c"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const struct pod_container *container = plan_one(arena, CASES[i].container);
        const char *words = "";
        for (size_t k = 0; k < container->arguments.count; k++)
            words =
                arena_printf(arena, "%s%s%s", words, k ? " " : "", container->arguments.items[k]);
        assert_string_equal(words, CASES[i].words);
    }
}

static void roots_of_images_are_used(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct pod_container *container =
        plan_one(arena, "'image':'rooted','env':[{'name':'MODE','value':'own'}],"
                        "'securityContext':{'readOnlyRootFilesystem':true}");
    assert_string_equal(container->root, root);
    assert_non_null(strstr(container->layer, "/pod/layers/m"));
    assert_true(container->read_only);
    assert_int_equal(container->user, 12);
    assert_int_equal(container->group, 34);
    static const char *const not_root[] = {
        "'image':'rooted','securityContext':{'runAsNonRoot':true}",
        "'image':'named','securityContext':{'runAsNonRoot':true,'runAsUser':9}",
        "'image':'empty','command':['a'],'securityContext':{'runAsNonRoot':true,'runAsUser':9}"};
    for (size_t i = 0; i < ARRAY_SIZE(not_root); i++)
        assert_int_equal(plan_one(arena, not_root[i])->user, i == 0 ? 12 : 9);
    assert_int_equal(container->stop_signal, 3);
    assert_string_equal(container->image_id, "sha256:ab");
    assert_string_equal(container->directory, "/there");
    assert_string_equal(environment_get(&container->environment, "PATH"), "/image");
    assert_string_equal(environment_get(&container->environment, "MODE"), "own");
    assert_string_equal(environment_get(&container->environment, "HOME"), "/");
    assert_null(environment_get(&container->environment, "PYTHONUSERBASE"));
    /* The trainer needs the machine's libraries. */
    assert_null(mount_at(container, IMAGE_TRAINER_PATH));
    container = plan_one(arena, "'image':'rooted','workingDir':'/own',"
                                "'securityContext':{'runAsUser':77}");
    assert_int_equal(container->user, 77);
    assert_int_equal(container->group, 0);
    assert_string_equal(container->directory, "/own");
    container = plan_one(arena, "'image':'relative','workingDir':'/own'");
    assert_string_equal(container->directory, "/own");
}

static void unusable_images_are_rejected(void **state)
{
    static const struct {
        const char *container, *reason, *message;
        bool is_temporary;
    } CASES[] = {
        {"'image':'empty'", "CreateContainerError", "no command specified", false},
        {"'image':'../../x:1','command':['x']", "InvalidImageName",
         "Failed to apply default image tag \"../../x:1\": couldn't parse image name "
         "\"../../x:1\": invalid reference format",
         false},
        {"'image':'gone'", "CreateContainerConfigError", "import or add it again", true},
        {"'image':'relative'", "CreateContainerConfigError",
         "the working directory 'src' of image 'relative' must be an absolute path: give the "
         "container a workingDir",
         false},
        {"'image':'new:1','imagePullPolicy':'IfNotPresent'", "ErrImageNeverPull",
         "'trainyard image import FILE.tar'", true},
        {"'image':'new:1','args':['x']", "ErrImageNeverPull", "trainyard image add new -- COMMAND",
         true},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct pod_spec spec;
        struct plan_refusal refusal;
        struct err err = ERR_INIT;
        assert_true(
            plan(arena, arena_printf(arena, "{'containers':[{'name':'m',%s}]}", CASES[i].container),
                 &spec, &refusal, &err) < 0);
        assert_string_equal(refusal.reason, CASES[i].reason);
        assert_string_equal(refusal.container, "m");
        assert_int_equal(refusal.is_temporary, CASES[i].is_temporary);
        if (!strstr(err.message, CASES[i].message))
            fail_msg("no '%s' in '%s'", CASES[i].message, err.message);
    }
}

static void host_network_uses_the_files_of_the_machine(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec =
        must_plan(arena, "{'hostNetwork':true,'containers':[{'name':'m','command':['true']}]}");
    assert_null(spec.network);
    assert_string_equal(spec.resolv_conf, "nameserver 9.9.9.9\n");
    const struct pod_container *container = &spec.containers[0];
    const struct pod_mount *hosts = mount_at(container, "/etc/hosts");
    assert_non_null(hosts);
    assert_true(hosts->read_only);
    assert_true(str_has_suffix(hosts->source, "/hosts"));
}

/* Every container of a job's pod sees the directory that the job's pods share, unless it mounts its
 * own there. */
static void pods_of_a_job_share_a_directory(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct plan_refusal refusal;
    struct err err = ERR_INIT;
    struct json *pod = read_json(
        arena,
        "{'metadata':{'name':'w-0','namespace':'n','uid':'u','ownerReferences':[{'apiVersion':"
        "'kubeflow.org/v1','kind':'TFJob','name':'j','uid':'7','controller':true}]},"
        "'spec':{'volumes':[{'name':'v','emptyDir':{}}],"
        "'initContainers':[{'name':'first','command':['true']}],"
        "'containers':[{'name':'main','command':['true']},{'name':'own','command':['true'],"
        "'volumeMounts':[{'name':'v','mountPath':'/run/trainyard/peers'}]}]}}");
    if (plan_json(arena, pod, &spec, &refusal, &err) < 0)
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

static void unsupported_pods_are_rejected(void **state)
{
    static const struct {
        const char *spec, *reason, *container, *message;
        bool is_temporary;
    } CASES[] = {
        {"{'containers':[{'name':'m','image':'x'}]}", "ErrImageNeverPull", "m",
         "image 'x' is not present on this machine", true},
        {"{'containers':[{'name':'m','command':['a'],'volumeMounts':[{'name':'v','mountPath':'/x'"
         "}]}]}",
         "CreateContainerConfigError", "m", "names no volume of the pod", false},
        {"{'containers':[{'name':'m','command':['a'],'securityContext':{'privileged':true}}]}",
         "CreateContainerConfigError", "m", "privileged containers are not supported", false},
        {"{'containers':[{'name':'m','command':['a'],'securityContext':{'runAsNonRoot':true}}]}",
         "CreateContainerConfigError", "m",
         "container has runAsNonRoot and image will run as root (pod: \"w-0_n(u)\", container: m)",
         false},
        {"{'containers':[{'name':'m','image':'empty','command':['a'],'securityContext':{"
         "'runAsNonRoot':true}}]}",
         "CreateContainerConfigError", "m",
         "container has runAsNonRoot and image will run as root (pod: \"w-0_n(u)\", container: m)",
         false},
        {"{'containers':[{'name':'m','image':'named','securityContext':{'runAsNonRoot':true}}]}",
         "CreateContainerConfigError", "m",
         "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is "
         "non-root (pod: \"w-0_n(u)\", container: m)",
         false},
        {"{'containers':[{'name':'m','command':['a'],'restartPolicy':'Never','restartPolicyRules':"
         "[{'action':'Restart','exitCodes':{'operator':'Near','values':[1]}}]}]}",
         "CreateContainerConfigError", "m", "operator 'Near' of a restart rule", false},
        {"{'containers':[{'name':'m','command':['a'],'securityContext':{'runAsNonRoot':true,"
         "'runAsUser':0}}]}",
         "CreateContainerConfigError", "m", "container's runAsUser breaks non-root policy", false},
        {"{'volumes':[{'name':'v'}],'containers':[{'name':'m','command':['a'],'volumeMounts':[{"
         "'name':'v','mountPath':'/x','subPathExpr':'$(NONE)/y'}]}]}",
         "CreateContainerConfigError", "m", "failed to expand subPath for volumeMount \"v\"",
         false},
        {"{'volumes':[{'name':'v'}],'containers':[{'name':'m','command':['a'],'env':[{'name':'UP',"
         "'value':'..'}],'volumeMounts':[{'name':'v','mountPath':'/x','subPathExpr':'$(UP)/y'}]}]}",
         "CreateContainerConfigError", "m", "subPath '../y' is not a path inside the volume",
         false},
        {"{'volumes':[{'name':'v'}],'containers':[{'name':'m','command':['a'],'volumeMounts':[{"
         "'name':'v','mountPath':'/proc/'}]}]}",
         "CreateContainerConfigError", "m", "belongs to the sandbox", false},
        {"{'volumes':[{'name':'v'}],'containers':[{'name':'m','command':['a'],'volumeMounts':[{"
         "'name':'v','mountPath':'/x/../etc'}]}]}",
         "CreateContainerConfigError", "m", "is not a path below '/'", false},
        {"{'containers':[{'name':'m','command':['a'],'workingDir':'src'}]}",
         "CreateContainerConfigError", "m", "workingDir 'src' must be an absolute path", false},
        {"{'securityContext':{'sysctls':[{'name':'kernel.core_pattern','value':'x'}]},'containers':"
         "[{'name':'m','command':['a']}]}",
         "SysctlForbidden", NULL, "forbidden sysctl: \"kernel.core_pattern\" not allowlisted",
         false},
        {"{'hostname':'a-rather-long-name-for-a-pod','subdomain':'and-a-long-subdomain-too',"
         "'setHostnameAsFQDN':true,'containers':[{'name':'m','command':['a']}]}",
         "FailedCreatePodSandBox", NULL, "is too long (64 characters is the max, ", false},
        {"{'volumes':[{'name':'v','configMap':{'name':'none'}}],'containers':[{'name':'m',"
         "'command':['a']}]}",
         "FailedMount", NULL, "MountVolume.SetUp failed for volume", true},
        {"{'restartPolicy':'x','containers':[]}", "CreateContainerConfigError", NULL,
         "restart policy 'x'", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec;
        struct plan_refusal refusal = {0};
        struct err err = ERR_INIT;
        assert_true(plan(arena, CASES[i].spec, &spec, &refusal, &err) < 0);
        assert_string_equal(refusal.reason, CASES[i].reason);
        assert_true(str_eq(refusal.container, CASES[i].container));
        assert_int_equal(refusal.is_temporary, CASES[i].is_temporary);
        if (!strstr(err.message, CASES[i].message))
            fail_msg("'%s'", err.message);
    }
}

static void security_contexts_are_planned(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec = must_plan(
        arena, "{'subdomain':'ring','setHostnameAsFQDN':true,"
               " 'securityContext':{'fsGroup':7,'supplementalGroups':[8],'seccompProfile':{'type':"
               "'Unconfined'},'sysctls':[{'name':'net/core/somaxconn','value':'9'}]},"
               " 'volumes':[{'name':'m','emptyDir':{'medium':'Memory','sizeLimit':'4Ki'}}],"
               " 'containers':[{'name':'a','command':['a'],'env':[{'name':'WHO','value':'me'}],"
               "'securityContext':{'readOnlyRootFilesystem':true,"
               "'capabilities':{'drop':['ALL'],'add':['CHOWN','SYS_ADMIN']}},"
               "'volumeMounts':[{'name':'m','mountPath':'/m','subPathExpr':'of/$(WHO)'}]},"
               " {'name':'b','command':['b'],'securityContext':{'seccompProfile':{'type':"
               "'RuntimeDefault'},'capabilities':{'drop':['CAP_KILL']}}}]}");
    assert_string_equal(spec.hostname, "w-0.ring.n.svc.cluster.local");
    assert_string_equal(spec.sysctls.items[0], "net.core.somaxconn=9");
    assert_int_equal(spec.extra_group_count, 0); /* an ordinary user cannot set groups */
    assert_int_equal(spec.memory_count, 1);
    assert_int_equal(spec.memories[0].size, 4096);
    const struct pod_container *a = &spec.containers[0], *b = &spec.containers[1];
    assert_int_equal(a->capabilities, capabilities_named("CHOWN"));
    assert_int_equal(b->capabilities, capabilities_default() & ~capabilities_named("KILL"));
    assert_true(a->unconfined && a->read_only);
    assert_false(b->unconfined || b->read_only);
    assert_string_equal(a->mounts[0].target, "/m");
    assert_string_equal(a->mounts[0].sub_path, "of/me");
    assert_string_equal(environment_get(&a->environment, "HOSTNAME"), spec.hostname);
}

/* The order is containerd's: ALL of `add`, ALL of `drop`, the names of `add`, those of `drop`. */
static void capabilities_are_added_then_dropped(void **state)
{
    const uint64_t usual = capabilities_default(), most = capabilities_most(true, true),
                   chown = capabilities_named("CHOWN");
    const struct {
        const char *wanted;
        uint64_t granted;
    } CASES[] = {
        {"{}", usual},
        {"{'add':['ALL']}", most},
        {"{'drop':['ALL']}", 0},
        {"{'add':['ALL'],'drop':['ALL']}", 0},
        {"{'add':['ALL'],'drop':['CHOWN']}", most & ~chown},
        {"{'add':['CHOWN'],'drop':['CHOWN']}", usual & ~chown},
        {"{'add':['CHOWN'],'drop':['ALL']}", chown},
        {"{'add':['CHOWN','CAP_KILL'],'drop':['ALL','KILL']}", chown},
        {"{'add':['ALL','CHOWN'],'drop':['ALL']}", chown},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec =
            must_plan(arena, arena_printf(arena,
                                          "{'containers':[{'name':'a','command':['a'],"
                                          "'securityContext':{'capabilities':%s}}]}",
                                          CASES[i].wanted));
        if (spec.containers[0].capabilities != CASES[i].granted)
            fail_msg("%s: %llx", CASES[i].wanted,
                     (unsigned long long)spec.containers[0].capabilities);
    }
}

static int plan_plain(struct arena *arena, const char *spec, struct pod_spec *ret,
                      struct plan_refusal *refusal, struct err *err)
{
    is_plain = true;
    int result = plan(arena, spec, ret, refusal, err);
    is_plain = false;
    return result;
}

static struct pod_spec must_plan_plain(struct arena *arena, const char *spec)
{
    is_plain = true;
    struct pod_spec planned = must_plan(arena, spec);
    is_plain = false;
    return planned;
}

static void without_namespaces_a_pod_uses_the_machine(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *const accepted =
        "{'volumes':[{'name':'h','hostPath':{'path':'/usr'}}],"
        " 'containers':[{'name':'main','image':'trainyard/trainer','args':['fit'],"
        "  'env':[{'name':'TRAINYARD_POD','value':'/of/another'}],"
        "  'volumeMounts':[{'name':'h','mountPath':'/usr/'}]}]}";
    struct pod_spec spec = must_plan_plain(arena, accepted);
    assert_true(spec.plain);
    assert_null(spec.network);
    const struct pod_container *main = &spec.containers[0];
    assert_int_equal(main->mount_count, 0);
    assert_string_equal(main->arguments.items[0], "/opt/trainer");
    assert_string_equal(environment_get(&main->environment, "TRAINYARD_POD"),
                        arena_printf(arena, "%s/pod/main", root));
    assert_string_equal(environment_get(&main->environment, "KUBERNETES_SERVICE_HOST"),
                        "127.0.0.1");
    assert_string_equal(environment_get(&main->environment, "KUBERNETES_SERVICE_PORT"), "7443");
    /* The pod's own directory with `python` comes last in PATH. */
    const char *tools = arena_printf(arena, "%s/pod/bin", root);
    assert_true(str_has_suffix(environment_get(&main->environment, "PATH"),
                               arena_printf(arena, ":/opt:%s", tools)));
    assert_int_equal(access(arena_printf(arena, "%s/python", tools), X_OK),
                     access("/usr/bin/python3", X_OK));
}

static void without_namespaces_mounts_are_rejected(void **state)
{
    static const struct {
        const char *spec, *reason, *message;
    } ROWS[] = {
        {"{'volumes':[{'name':'e','emptyDir':{}}],'containers':[{'name':'m','command':['x'],"
         "'volumeMounts':[{'name':'e','mountPath':'/data'}]}]}",
         "FailedMount", "volume \"e\": it cannot be mounted at '/data'"},
        {"{'volumes':[{'name':'h','hostPath':{'path':'/usr'}}],'containers':[{'name':'m',"
         "'command':['x'],'volumeMounts':[{'name':'h','mountPath':'/usr','subPath':'lib'}]}]}",
         "FailedMount", "volume \"h\": it cannot be mounted at '/usr'"},
        {"{'volumes':[{'name':'h','hostPath':{'path':'/usr'}}],'containers':[{'name':'m',"
         "'command':['x'],'volumeMounts':[{'name':'h','mountPath':'/usr','readOnly':true}]}]}",
         "FailedMount", "volume \"h\": a read-only mount at '/usr'"},
        {"{'securityContext':{'sysctls':[{'name':'kernel.shmmax','value':'1'}]},'containers':"
         "[{'name':'m','command':['x']}]}",
         "SysctlForbidden", "forbidden sysctl: \"kernel.shmmax\""},
        {"{'containers':[{'name':'m','image':'rooted'}]}", "CreateContainerError",
         "image 'rooted' has files of its own"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec;
        struct plan_refusal refusal;
        struct err err = ERR_INIT;
        int result = plan_plain(arena, ROWS[i].spec, &spec, &refusal, &err);
        assert_true(result < 0);
        assert_string_equal(refusal.reason, ROWS[i].reason);
        assert_non_null(strstr(err.message, ROWS[i].message));
    }
}

/* A step of a pipeline: the command finds the volume of its wrapper, and writes its outputs where
 * the supervisor reads them. */
static void without_namespaces_a_step_uses_its_volume(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char step[] =
        "{'volumes':[{'name':'trainyard-step','emptyDir':{}}],'initContainers':[{'name':'init',"
        "'image':'trainyard/step','args':['install','/trainyard/step','/trainyard/script'],"
        "'volumeMounts':[{'name':'trainyard-step','mountPath':'/trainyard'}]}],"
        "'containers':[{'name':'main','image':'known','terminationMessagePolicy':"
        "'FallbackToLogsOnError','command':['/trainyard/step','output','/dev/termination-log',"
        "'a=/tmp/a','--','sh','/trainyard/script'],"
        "'volumeMounts':[{'name':'trainyard-step','mountPath':'/trainyard'}]},"
        "{'name':'side','image':'known','command':['x','/trainyard/step']}]}";
    struct pod_spec spec = must_plan_plain(arena, step);
    const char *const *init = spec.containers[0].arguments.items;
    const char *const *main = spec.containers[1].arguments.items;
    const char *volume = arena_strndup(arena, init[2], strlen(init[2]) - strlen("/step"));
    assert_true(str_has_prefix(volume, arena_printf(arena, "%s/pod/", root)));
    assert_string_equal(init[2], arena_printf(arena, "%s/step", volume));
    assert_string_equal(init[3], arena_printf(arena, "%s/script", volume));
    assert_string_equal(main[0], init[2]);
    assert_string_equal(main[2], arena_printf(arena, "%s/pod/messages/main", root));
    assert_string_equal(main[6], init[3]);
    assert_true(spec.containers[1].message_from_log);
    assert_string_equal(spec.containers[2].arguments.items[1], "/trainyard/step");
}

/* Without namespaces no container changes its user, so runAsNonRoot depends on our own user. */
static void without_namespaces_run_as_non_root_checks_our_user(void **state)
{
    static const struct {
        const char *spec;
        bool may_run;
    } ROWS[] = {
        {"{'securityContext':{'runAsNonRoot':true},'containers':[{'name':'m','command':['x']}]}",
         true},
        {"{'securityContext':{'runAsNonRoot':true,'runAsUser':7},'containers':[{'name':'m',"
         "'command':['x']}]}",
         true},
        {"{'securityContext':{'runAsNonRoot':true,'runAsUser':0},'containers':[{'name':'m',"
         "'command':['x']}]}",
         false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_spec spec;
        struct plan_refusal refusal;
        struct err err = ERR_INIT;
        int result = plan_plain(arena, ROWS[i].spec, &spec, &refusal, &err);
        assert_int_equal(result == 0, ROWS[i].may_run && geteuid() != 0);
        if (result < 0)
            assert_string_equal(refusal.reason, "CreateContainerConfigError");
    }
}

static void long_hostnames_are_truncated(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = read_json(arena, "{'metadata':{}}");
    char name[100];
    memset(name, 'a', sizeof(name));
    name[62] = '-';
    name[sizeof(name) - 1] = '\0';
    json_set_string(arena, json_get(pod, "metadata"), "name", name);
    assert_int_equal(strlen(plan_pod_hostname(arena, pod)), 62);
}

/* A container with GPUs gets their numbers. A container without GPUs gets no variable. */
static void gpus_are_set_in_the_environment(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct plan_refusal refusal;
    struct err err = ERR_INIT;
    struct json *pod = read_json(
        arena, "{'metadata':{'name':'w-0','namespace':'n','uid':'u','annotations':{"
               "'trainyard.dev/gpus':''}},'spec':{'containers':["
               "{'name':'main','image':'known','resources':{'requests':{'nvidia.com/gpu':'2'}}},"
               "{'name':'side','image':'known'}]}}");
    struct json *annotations = json_at(pod, "metadata", "annotations", NULL);
    assert_true(plan_json(arena, pod, &spec, &refusal, &err) < 0);
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the scheduler did not place the pod"));
    json_set_string(arena, annotations, "trainyard.dev/gpus", "{\"main\":[1,3]}");
    if (plan_json(arena, pod, &spec, &refusal, &err) < 0)
        fail_msg("%s", err.message);
    const struct pod_strings *main = &spec.containers[0].environment;
    const struct pod_strings *side = &spec.containers[1].environment;
    assert_string_equal(environment_get(main, "CUDA_VISIBLE_DEVICES"), "1,3");
    assert_string_equal(environment_get(main, "NVIDIA_VISIBLE_DEVICES"), "1,3");
    assert_null(environment_get(side, "CUDA_VISIBLE_DEVICES"));
    assert_int_equal(spec.containers[1].devices.count, 0);
}

static void gpus_are_counted(void **state)
{
    static const char *const files[] = {"nvidia0",    "nvidia12", "nvidiactl", "nvidia-uvm",
                                        "nvidia-cap", "nvidia1x", "nvidia",    "null"};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_strings devices = {0};
    const char *dev = arena_printf(arena, "%s/dev", root);
    assert_int_equal(gpus_count(dev), 0);
    assert_int_equal(file_make_dirs(dev, 0700, NULL), 0);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        assert_int_equal(
            file_write_atomic(arena_printf(arena, "%s/%s", dev, files[i]), "", 0, 0600, NULL), 0);
    assert_int_equal(gpus_count(dev), 2);
    gpus_devices(arena, dev, &devices);
    assert_int_equal(devices.count, 4);
}

/* The accounts of the images. */
static int write_accounts(void)
{
    static const char passwd[] = "app:x:7:7::/:/bin/sh\n";
    _cleanup_free_ char *directory = mem_printf("%s/etc", root);
    _cleanup_free_ char *path = mem_printf("%s/passwd", directory);
    int result = file_make_dirs(directory, 0755, NULL);
    return result < 0 ? result : file_write_atomic(path, passwd, strlen(passwd), 0644, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pod_with_all_fields_is_planned),
        cmocka_unit_test(home_is_root_if_a_mount_is_below_it),
        cmocka_unit_test(commands_of_images_are_combined),
        cmocka_unit_test(roots_of_images_are_used),
        cmocka_unit_test(unusable_images_are_rejected),
        cmocka_unit_test(host_network_uses_the_files_of_the_machine),
        cmocka_unit_test(unsupported_pods_are_rejected),
        cmocka_unit_test(security_contexts_are_planned),
        cmocka_unit_test(capabilities_are_added_then_dropped),
        cmocka_unit_test(long_hostnames_are_truncated),
        cmocka_unit_test(pods_of_a_job_share_a_directory),
        cmocka_unit_test(without_namespaces_a_pod_uses_the_machine),
        cmocka_unit_test(without_namespaces_mounts_are_rejected),
        cmocka_unit_test(without_namespaces_a_step_uses_its_volume),
        cmocka_unit_test(without_namespaces_run_as_non_root_checks_our_user),
        cmocka_unit_test(shared_directories_are_mounted),
        cmocka_unit_test(gpus_are_set_in_the_environment),
        cmocka_unit_test(gpus_are_counted),
    };
    if (!mkdtemp(root) || write_accounts() < 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(root, NULL);
    return failed;
}
