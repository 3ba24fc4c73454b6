/* Reports the fields of a pod that have no effect; see plan/unsupported.h. */
#include "node/plan/unsupported.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/pod_container.h"
#include "kube/step_wrapper.h"
#include "node/plan/capabilities.h"
#include "node/plan/environment.h"
#include "node/plan/kubeconfig.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define UNSUPPORTED "Unsupported"
/* Docker Desktop's name of the API. The DNS responder of the pod network answers it. */
#define API_NAME    "kubernetes.docker.internal"
#define API_ADDRESS "127.0.0.1"

struct unsupported_report {
    struct arena *arena;
    const struct json *pod;
    const struct plan_unsupported_machine *machine;
    plan_unsupported_tell *tell;
    void *context;
};

static void tell_pod(const struct unsupported_report *t)
{
    static const struct {
        const char *field, *message;
    } FLAGS[] = {
        {"hostPID", "hostPID has no effect: a pod that sees the machine's processes could inspect "
                    "and end all processes of its user, including those of this cluster; use "
                    "shareProcessNamespace to see the processes of the pod"},
    };
    const struct json *spec = json_get(t->pod, "spec");
    const struct json *security = json_get(spec, "securityContext");
    for (size_t i = 0; i < ARRAY_SIZE(FLAGS); i++)
        if (json_get_bool(spec, FLAGS[i].field, false))
            t->tell(t->context, UNSUPPORTED, FLAGS[i].message);
    if (str_eq(json_get_string(json_get(security, "seccompProfile"), "type", ""), "Localhost"))
        t->tell(t->context, UNSUPPORTED,
                "the pod's seccompProfile of type Localhost has no effect: the default profile "
                "applies");
    if (t->machine->nested && json_get(security, "fsGroup"))
        t->tell(t->context, UNSUPPORTED,
                arena_printf(t->arena,
                             "fsGroup %" PRId64
                             " has no effect: pods run as an ordinary user with one group; every "
                             "container can write to the volumes anyway",
                             json_get_int(security, "fsGroup", 0)));
    if (t->machine->nested && json_count(json_get(security, "supplementalGroups")))
        t->tell(t->context, UNSUPPORTED,
                "supplementalGroups have no effect: pods run as an ordinary user with one group");
}

static void tell_capabilities(const struct unsupported_report *t, const struct json *container)
{
    bool own_network = !json_get_bool(json_get(t->pod, "spec"), "hostNetwork", false);
    uint64_t most = capabilities_most(t->machine->nested, own_network);
    const char *refused = "";
    JSON_EACH (name, json_at(container, "securityContext", "capabilities", "add", NULL)) {
        const char *text = json_text(name) ? json_text(name) : "";
        if (!capabilities_named(text) || capabilities_named(text) & ~most)
            refused = arena_printf(t->arena, "%s%s%s", refused, refused[0] ? ", " : "", text);
    }
    if (refused[0])
        t->tell(t->context, UNSUPPORTED,
                arena_printf(t->arena,
                             "container %s does not get the capabilities it adds (%s): a container "
                             "never has more capabilities than its sandbox",
                             json_get_string(container, "name", ""), refused));
}

static void tell_container(const struct unsupported_report *t, const struct json *container)
{
    const char *name = json_get_string(container, "name", "");
    const struct json *security = json_get(container, "securityContext");
    tell_capabilities(t, container);
    if (str_eq(json_get_string(security, "procMount", ""), "Unmasked"))
        t->tell(t->context, UNSUPPORTED,
                arena_printf(t->arena, "procMount Unmasked of container %s has no effect", name));
    if (str_eq(json_get_string(json_get(security, "seccompProfile"), "type", ""), "Localhost"))
        t->tell(t->context, UNSUPPORTED,
                arena_printf(t->arena,
                             "seccompProfile of type Localhost of container %s has no effect: the "
                             "default profile applies",
                             name));
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *propagation = json_get_string(mount, "mountPropagation", "None");
        if (!str_eq(propagation, "None"))
            t->tell(t->context, UNSUPPORTED,
                    arena_printf(t->arena,
                                 "mountPropagation %s of volume \"%s\" has no effect: later mounts "
                                 "are not propagated",
                                 propagation, json_get_string(mount, "name", "")));
    }
}

static bool requests_user(const struct json *security)
{
    return json_get(security, "runAsUser") || json_get(security, "runAsGroup");
}

static bool is_in(const struct json *text, const char *word)
{
    return json_text(text) && strstr(json_text(text), word);
}

/* Returns whether the text `word` occurs in the container's command or args, or in the value of one
 * of its environment variables. */
static bool unsupported_container_names(const struct json *container, const char *word)
{
    static const char *const LISTS[] = {"command", "args"};
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (argument, json_get(container, LISTS[i])) {
            if (is_in(argument, word))
                return true;
        }
    }
    JSON_EACH (variable, json_get(container, "env")) {
        if (is_in(json_get(variable, "value"), word))
            return true;
    }
    return false;
}

/* Returns whether the container expects a file at its terminationMessagePath: the path is not the
 * default, or the command or environment contains the path. Returns false for a pipeline step,
 * because its wrapper knows the real path, and for a container with FallbackToLogsOnError. */
static bool wants_message_file(const struct json *container)
{
    const char *path = json_get_string(container, "terminationMessagePath", KUBE_MESSAGE_PATH);
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if (str_eq(json_get_string(mount, "name", ""), STEP_WRAPPER_VOLUME))
            return false;
    }
    if (str_eq(json_get_string(container, "terminationMessagePolicy", ""), "FallbackToLogsOnError"))
        return false;
    return !str_eq(path, KUBE_MESSAGE_PATH) || unsupported_container_names(container, path);
}

static bool unsupported_is_word(const char *at, size_t size, const char *word)
{
    return size == strlen(word) && strncasecmp(at, word, size) == 0;
}

/* Returns whether the machine's hosts file maps API_NAME to API_ADDRESS. Each line has an address
 * and its names; '#' begins a comment. */
static bool hosts_know_api(const char *text)
{
    static const char BLANKS[] = " \t\r";
    for (const char *line = text; *line; line += line[0] == '\n') {
        const char *end = line + strcspn(line, "#\n");
        bool is_address = true, has_api_address = false;
        for (line += strspn(line, BLANKS); line < end; line += strspn(line, BLANKS)) {
            size_t size = strcspn(line, " \t\r\n#");
            if (is_address)
                has_api_address = unsupported_is_word(line, size, API_ADDRESS);
            else if (has_api_address && unsupported_is_word(line, size, API_NAME))
                return true;
            is_address = false;
            line += size;
        }
        line += strcspn(line, "\n");
    }
    return false;
}

/* Returns whether the planner sets KUBECONFIG for the container (plan/plain.c). */
static bool has_kubeconfig(const struct json *container)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if (str_eq(json_get_string(mount, "mountPath", ""), POD_ACCOUNT_MOUNT))
            return true;
    }
    return false;
}

/* Reports all fields that need namespaces, in one event. */
static void tell_plain(const struct unsupported_report *t)
{
    static const char *const OF_POD[] = {"hostname", "subdomain", "hostAliases", "dnsConfig"};
    static const char *const LISTS[] = {"initContainers", "containers"};
    const struct json *spec = json_get(t->pod, "spec");
    bool user = requests_user(json_get(spec, "securityContext")), read_only = false,
         message_file = false, name = false, kubeconfig = true;
    const char *all = "";
    for (size_t i = 0; i < ARRAY_SIZE(OF_POD); i++)
        if (json_get(spec, OF_POD[i]))
            all = arena_printf(t->arena, "%s%s%s", all, all[0] ? ", " : "", OF_POD[i]);
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_get(spec, LISTS[i])) {
            const struct json *security = json_get(container, "securityContext");
            user = user || requests_user(security);
            read_only = read_only || json_get_bool(security, "readOnlyRootFilesystem", false);
            message_file = message_file || wants_message_file(container);
            if (unsupported_container_names(container, API_NAME)) {
                name = true;
                kubeconfig = kubeconfig && has_kubeconfig(container);
            }
        }
    }
    if (read_only)
        all = arena_printf(t->arena, "%s%sreadOnlyRootFilesystem", all, all[0] ? ", " : "");
    if (user && t->machine->nested)
        all = arena_printf(t->arena, "%s%srunAsUser and runAsGroup", all, all[0] ? ", " : "");
    if (name && !hosts_know_api(t->machine->hosts))
        all = arena_printf(
            t->arena,
            "%s%sthe name " API_NAME
            " (%sthe name works once this machine's /etc/hosts maps it to " API_ADDRESS ")",
            all, all[0] ? ", " : "", kubeconfig ? "KUBECONFIG has the address of the API; " : "");
    if (message_file)
        all = arena_printf(t->arena,
                           "%s%sterminationMessagePath (use terminationMessagePolicy "
                           "FallbackToLogsOnError instead)",
                           all, all[0] ? ", " : "");
    if (all[0])
        t->tell(t->context, UNSUPPORTED,
                arena_printf(t->arena,
                             "without namespaces these have no effect: %s ('trainyard status' says "
                             "how to allow namespaces)",
                             all));
}

static void tell_skipped(void *context, const char *kind, const char *name, const char *keys)
{
    const struct unsupported_report *t = context;
    t->tell(
        t->context, "InvalidEnvironmentVariableNames",
        arena_printf(t->arena,
                     "Keys [%s] from the EnvFrom %s %s/%s were skipped since they are considered "
                     "invalid environment variable names.",
                     keys, kind, kube_meta_namespace(t->pod), name));
}

void plan_unsupported_report(struct arena *arena, const struct json *pod,
                             const struct plan_unsupported_machine *machine,
                             const struct node_objects *objects, plan_unsupported_tell *tell,
                             void *context)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    struct unsupported_report t = {arena, pod, machine, tell, context};
    tell_pod(&t);
    if (machine->plain)
        tell_plain(&t);
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            tell_container(&t, container);
            environment_find_skipped(arena, pod, objects, container, tell_skipped, &t);
        }
    }
}
