/* From a Pod to a spec; see pod_plan.h. */
#include "node/pod_plan.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/image_table.h"
#include "node/peers.h"
#include "node/pod_network.h"
#include "node/pod_state.h"

#include <string.h>

enum { NAMES_MAX = 256 * 1024, VOLUMES_MAX = 256, HOSTNAME_MAX = 63 };

/* What lies in a home and is nobody's business but its owner's; the rest of the home is shown
 * read-only, because it is where people keep their code. */
static const char *const SECRETS[] = {
    ".ssh",
    ".kube",
    ".gnupg",
    ".aws",
    ".azure",
    ".docker",
    ".config/gcloud",
    ".config/rclone",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
};

struct planner {
    struct arena *arena;
    const struct pod_plan_input *input;
    struct pod_spec *spec;
    struct pod_facts facts;
    struct volume volumes[VOLUMES_MAX];
    size_t volume_count;
    struct pod_plan_refusal *refusal;
    struct err *err;
};

bool pod_uses_host_network(const struct json *pod)
{
    return json_get_bool(json_get(pod, "spec"), "hostNetwork", false);
}

const char *pod_hostname(struct arena *arena, const struct json *pod)
{
    const char *given = json_get_string(json_get(pod, "spec"), "hostname", "");
    const char *name = given[0] ? given : kube_meta_name(pod);
    size_t size = strnlen(name, HOSTNAME_MAX);
    while (size > 0 && (name[size - 1] == '-' || name[size - 1] == '.'))
        size--; /* cut in the middle of a name */
    return arena_strndup(arena, name, size);
}

static int refuse(struct planner *p, const char *reason, const char *container, int result)
{
    *p->refusal = (struct pod_plan_refusal){
        .reason = reason, .container = container, .may_heal = result == -ERR_NOT_FOUND};
    return result;
}

static const char *make_hosts(struct planner *p)
{
    const struct json *pod = p->input->pod, *spec = json_get(pod, "spec");
    const char *subdomain = json_get_string(spec, "subdomain", "");
    _cleanup_buf_ struct buf text;
    buf_init(&text, NAMES_MAX);
    buf_append_str(&text, "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n");
    buf_printf(&text, "%s", p->input->address);
    if (subdomain[0])
        buf_printf(&text, "\t%s.%s.%s.svc.cluster.local", p->facts.hostname, subdomain,
                   kube_meta_namespace(pod));
    buf_printf(&text, "\t%s\n", p->facts.hostname);
    /* In the pod network the responder answers this one. */
    if (pod_uses_host_network(pod))
        buf_append_str(&text, "127.0.0.1\tkubernetes.docker.internal\n");
    JSON_EACH (alias, json_get(spec, "hostAliases")) {
        buf_append_str(&text, json_get_string(alias, "ip", ""));
        JSON_EACH (name, json_get(alias, "hostnames")) {
            buf_printf(&text, "\t%s", json_text(name) ? json_text(name) : "");
        }
        buf_append_char(&text, '\n');
    }
    return arena_strndup(p->arena, text.data, text.size);
}

static void append_all(struct buf *text, const struct json *list)
{
    JSON_EACH (item, list) {
        if (json_text(item))
            buf_printf(text, " %s", json_text(item));
    }
}

static const char *make_resolv_conf(struct planner *p)
{
    const struct json *spec = json_get(p->input->pod, "spec");
    const struct json *config = json_get(spec, "dnsConfig");
    const char *namespace_ = kube_meta_namespace(p->input->pod);
    bool none = str_eq(json_get_string(spec, "dnsPolicy", ""), "None");
    /* Our responder listens in the pod network only; in the machine's the machine's own answers. */
    if (!none && pod_uses_host_network(p->input->pod))
        return p->input->machine_resolv_conf;
    _cleanup_buf_ struct buf text;
    buf_init(&text, NAMES_MAX);
    buf_append_str(&text, "search");
    if (!none)
        buf_printf(&text, " %s.svc.cluster.local svc.cluster.local cluster.local", namespace_);
    append_all(&text, json_get(config, "searches"));
    buf_append_char(&text, '\n');
    if (!none)
        buf_append_str(&text, "nameserver " POD_NETWORK_GATEWAY "\n");
    JSON_EACH (server, json_get(config, "nameservers")) {
        buf_printf(&text, "nameserver %s\n", json_text(server) ? json_text(server) : "");
    }
    buf_append_str(&text, none ? "options" : "options ndots:5");
    JSON_EACH (option, json_get(config, "options")) {
        const char *value = json_get_string(option, "value", NULL);
        buf_printf(&text, " %s%s%s", json_get_string(option, "name", ""), value ? ":" : "",
                   value ? value : "");
    }
    buf_append_char(&text, '\n');
    return arena_strndup(p->arena, text.data, text.size);
}

static void add_masks(struct planner *p)
{
    const char *home = p->input->home;
    pod_strings_add(p->arena, &p->spec->masks, p->input->state_dir);
    if (!home || !str_eq(home, "/root"))
        pod_strings_add(p->arena, &p->spec->masks, "/root");
    for (size_t i = 0; home && i < ARRAY_SIZE(SECRETS); i++)
        pod_strings_add(p->arena, &p->spec->masks,
                        arena_printf(p->arena, "%s/%s", home, SECRETS[i]));
}

static int prepare_volumes(struct planner *p)
{
    const struct volume_context context = {.state_dir = p->input->state_dir,
                                           .pod_dir = p->input->pod_dir,
                                           .facts = &p->facts,
                                           .objects = p->input->objects,
                                           .tokens = p->input->tokens};
    JSON_EACH (volume, json_at(p->input->pod, "spec", "volumes", NULL)) {
        int result =
            p->volume_count == VOLUMES_MAX
                ? err_set(p->err, ERR_TOO_MANY, "more than %d volumes", VOLUMES_MAX)
                : volume_prepare(p->arena, &context, volume, &p->volumes[p->volume_count], p->err);
        if (result < 0)
            return refuse(p, "FailedMount", NULL, result);
        p->volume_count++;
    }
    return 0;
}

static const struct volume *find_volume(const struct planner *p, const char *name)
{
    for (size_t i = 0; i < p->volume_count; i++)
        if (str_eq(p->volumes[i].name, name))
            return &p->volumes[i];
    return NULL;
}

static bool is_step_image(const char *image)
{
    static const char name[] = "trainyard/step";
    return str_has_prefix(image, name) && strchr(":@", image[strlen(name)]);
}

/* Its last words: a file of its own where Kubernetes says it is. */
static void plan_message(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const char *target =
        json_get_string(container, "terminationMessagePath", "/dev/termination-log");
    _cleanup_free_ char *source = pod_message_path(p->input->pod_dir, ret->name);
    ret->message_from_log =
        str_eq(json_get_string(container, "terminationMessagePolicy", ""), "FallbackToLogsOnError");
    if (target[0] == '/' && target[1])
        pod_container_add_mount(p->arena, ret, target, arena_strdup(p->arena, source));
}

/* The services that a pod on the machine's network can reach are named in its hosts file, which
 * follows them: it must be one that can be changed from outside. */
static void plan_hosts(struct planner *p, struct pod_container *ret)
{
    if (pod_uses_host_network(p->input->pod))
        pod_container_add_mount(p->arena, ret, "/etc/hosts",
                                arena_printf(p->arena, "%s/hosts", p->input->pod_dir))
            ->read_only = true;
}

/* What it shares with the other pods of its job, unless it has something of its own there. */
static int plan_peers(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const char *name = peers_name(p->arena, p->input->pod), *path;
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if (str_eq(json_get_string(mount, "mountPath", ""), PEERS_MOUNT))
            name = NULL;
    }
    if (!name)
        return 0;
    int result = peers_prepare(p->arena, p->input->state_dir, name, &path, p->err);
    if (result == 0)
        pod_container_add_mount(p->arena, ret, PEERS_MOUNT, path);
    return result;
}

static int plan_mounts(struct planner *p, const struct json *container, struct pod_container *ret)
{
    if (p->input->trainer_path)
        pod_container_add_mount(p->arena, ret, IMAGE_TRAINER_PATH, p->input->trainer_path)
            ->read_only = true;
    if (p->input->step_path && is_step_image(json_get_string(container, "image", "")))
        pod_container_add_mount(p->arena, ret, IMAGE_STEP_PATH, p->input->step_path)->read_only =
            true;
    plan_hosts(p, ret);
    plan_message(p, container, ret);
    int result = plan_peers(p, container, ret);
    if (result < 0)
        return result;
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *name = json_get_string(mount, "name", "");
        const char *path = json_get_string(mount, "mountPath", "");
        const struct volume *volume = find_volume(p, name);
        if (!volume)
            return err_set(p->err, ERR_INVALID, "volume mount '%s' names no volume of the pod",
                           name);
        if (path[0] != '/' || str_eq(path, "/"))
            return err_set(p->err, ERR_INVALID, "mountPath '%s' is no path below '/'", path);
        if (json_get(mount, "subPathExpr"))
            return err_set(p->err, ERR_UNSUPPORTED, "subPathExpr is not supported on this machine");
        char *target = arena_strdup(p->arena, path);
        for (size_t size = strlen(target); size > 1 && target[size - 1] == '/';)
            target[--size] = '\0';
        struct pod_mount *row = pod_container_add_mount(p->arena, ret, target, volume->source);
        const char *sub_path = json_get_string(mount, "subPath", "");
        row->sub_path = sub_path[0] && volume->source ? sub_path : NULL;
        row->read_only = volume->read_only || json_get_bool(mount, "readOnly", false);
    }
    if (json_count(json_get(container, "volumeDevices")))
        return err_set(p->err, ERR_UNSUPPORTED, "volumeDevices are not supported on this machine");
    return 0;
}

static int plan_security(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *own = json_get(container, "securityContext");
    const struct json *pod = json_at(p->input->pod, "spec", "securityContext", NULL);
    ret->user = json_get_int(own, "runAsUser", json_get_int(pod, "runAsUser", -1));
    ret->group = json_get_int(own, "runAsGroup", json_get_int(pod, "runAsGroup", -1));
    if (json_get_bool(own, "privileged", false))
        return err_set(p->err, ERR_UNSUPPORTED,
                       "privileged containers are not supported on this machine: a pod never gets "
                       "more than its sandbox");
    if (json_get_bool(own, "runAsNonRoot", json_get_bool(pod, "runAsNonRoot", false)) &&
        ret->user <= 0)
        return err_set(p->err, ERR_INVALID,
                       "runAsNonRoot is set, but the container would run as root: give it a "
                       "runAsUser");
    return 0;
}

/* Where a program looks for ~/.kube and the like. The machine's /root is nothing to write to, so it
 * is /tmp; but a pod that mounts something below /root has it there to be found, as in an image. */
static const char *home_of(const struct json *container)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *path = json_get_string(mount, "mountPath", "");
        if (str_eq(path, "/root") || str_has_prefix(path, "/root/"))
            return "/root";
    }
    return "/tmp";
}

static void add_default_environment(struct planner *p, const struct json *container,
                                    struct pod_strings *environment)
{
    environment_set(p->arena, environment, "PATH",
                    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                    ":" IMAGE_TOOLS_DIRECTORY);
    environment_set(p->arena, environment, "HOSTNAME", p->facts.hostname);
    environment_set(p->arena, environment, "HOME", home_of(container));
    /* The machine's home is not ours to write to, but packages installed there must be found. */
    if (p->input->home)
        environment_set(p->arena, environment, "PYTHONUSERBASE",
                        arena_printf(p->arena, "%s/.local", p->input->home));
}

static int plan_command(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *command = json_get(container, "command");
    if (json_count(command) == 0) {
        int result =
            image_table_lookup(p->arena, p->input->images, json_get_string(container, "image", ""),
                               &ret->arguments, p->err);
        if (result < 0)
            return refuse(p, "ErrImageNeverPull", ret->name, result);
    }
    const struct json *lists[] = {command, json_get(container, "args")};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (word, lists[i]) {
            if (json_text(word))
                pod_strings_add(p->arena, &ret->arguments,
                                environment_expand(p->arena, json_text(word), &ret->environment));
        }
    }
    return 0;
}

static int plan_container(struct planner *p, const struct json *container, bool init)
{
    const char *name = json_get_string(container, "name", "");
    if (p->spec->container_count == POD_CONTAINERS_MAX)
        return refuse(p, "CreateContainerConfigError", name,
                      err_set(p->err, ERR_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX));
    struct pod_container *ret = pod_spec_add_container(p->arena, p->spec, name);
    ret->init = init;
    const char *directory = json_get_string(container, "workingDir", "");
    ret->directory = directory[0] ? directory : NULL;
    add_default_environment(p, container, &ret->environment);
    environment_add_services(p->arena, &p->facts, p->input->objects, &ret->environment);
    int result;
    if ((result = environment_build(p->arena, &p->facts, p->input->objects, container,
                                    &ret->environment, p->err)) < 0 ||
        (result = plan_security(p, container, ret)) < 0 ||
        (result = plan_mounts(p, container, ret)) < 0)
        return refuse(p, "CreateContainerConfigError", name, result);
    return plan_command(p, container, ret);
}

int pod_plan(struct arena *arena, const struct pod_plan_input *input, struct pod_spec *ret,
             struct pod_plan_refusal *ret_refusal, struct err *err)
{
    const struct json *spec = json_get(input->pod, "spec");
    bool on_machine = pod_uses_host_network(input->pod);
    struct planner *p = ARENA_NEW(arena, struct planner);
    *p = (struct planner){.arena = arena,
                          .input = input,
                          .spec = ARENA_NEW(arena, struct pod_spec),
                          .facts = {.pod = input->pod,
                                    .hostname = pod_hostname(arena, input->pod),
                                    .address = input->address,
                                    .host_address = input->host_address,
                                    .api_port = on_machine ? input->api_port : 0},
                          .refusal = ret_refusal,
                          .err = err};
    p->spec->hostname = p->facts.hostname;
    p->spec->network = on_machine ? NULL : input->network;
    p->spec->address = input->address;
    p->spec->nested = input->nested;
    p->spec->hosts = make_hosts(p);
    p->spec->resolv_conf = make_resolv_conf(p);
    add_masks(p);
    int result = restart_policy_parse(json_get_string(spec, "restartPolicy", "Always"),
                                      &p->spec->restart, err);
    if (result < 0)
        return refuse(p, "CreateContainerConfigError", NULL, result);
    if ((result = prepare_volumes(p)) < 0)
        return result;
    const struct json *lists[] = {json_get(spec, "initContainers"), json_get(spec, "containers")};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, lists[i]) {
            if ((result = plan_container(p, container, i == 0)) < 0)
                return result;
        }
    }
    *ret = *p->spec;
    return 0;
}
