/* Plans the security settings of a pod and its containers: users, groups, capabilities, seccomp and
 * sysctls; see plan/internal.h. */
#include "node/plan/internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/plan/capabilities.h"
#include "node/plan/sysctl_names.h"

#include <string.h>
#include <unistd.h>

/* Returns the capabilities that the list names, without ALL. Sets *ret_all to whether the list
 * contains ALL. */
static uint64_t security_capabilities_named(const struct json *list, bool *ret_all)
{
    uint64_t bits = 0;
    *ret_all = false;
    JSON_EACH (name, list) {
        uint64_t named = json_text(name) ? capabilities_named(json_text(name)) : 0;
        if (named == UINT64_MAX)
            *ret_all = true;
        else
            bits |= named;
    }
    return bits;
}

/* Follows containerd (WithCapabilities): ALL is applied first and then single names, and in each
 * step `drop` overrides `add`. So a container can drop ALL and add single capabilities, or add ALL
 * and drop single ones. */
static uint64_t plan_capabilities(struct planner *p, const struct json *wanted)
{
    bool adds_all, drops_all;
    uint64_t add = security_capabilities_named(json_get(wanted, "add"), &adds_all),
             drop = security_capabilities_named(json_get(wanted, "drop"), &drops_all);
    uint64_t start = drops_all ? 0 : adds_all ? UINT64_MAX : capabilities_default();
    uint64_t most = capabilities_most(p->input->nested, p->spec->network != NULL);
    return (start | add) & ~drop & most;
}

/* Checks runAsNonRoot, with the kubelet's messages. `given` is runAsUser, or -1 if it is not set.
 * If it is not set and the image names its user by name, the check fails, because the kubelet does
 * not look up the name. */
static int check_non_root(struct planner *p, const struct pod_container *container, int64_t given)
{
    const struct json *pod = p->input->pod;
    const char *subject =
        arena_printf(p->arena, "(pod: \"%s_%s(%s)\", container: %s)", kube_meta_name(pod),
                     kube_meta_namespace(pod), kube_meta_uid(pod), container->name);
    char *user = arena_strdup(p->arena, container->root ? p->image.user : "");
    user[strcspn(user, ":")] = '\0';
    int64_t number = 0;
    /* Without the privilege to become another user (`nested`), every container runs as the current
     * user. */
    if (p->input->plain && p->input->nested && given != 0)
        return geteuid() != 0 ? 0
                              : err_set(p->err, ERR_INVALID,
                                        "container has runAsNonRoot and would run as root, because "
                                        "the cluster lacks the privilege to become another user %s",
                                        subject);
    if (given > 0)
        return 0;
    if (given == 0)
        return err_set(p->err, ERR_INVALID, "container's runAsUser breaks non-root policy %s",
                       subject);
    if (user[0] && str_to_int64(user, 0, UINT32_MAX, &number, NULL) < 0)
        return err_set(p->err, ERR_INVALID,
                       "container has runAsNonRoot and image has non-numeric user (%s), cannot "
                       "verify user is non-root %s: give it a runAsUser",
                       user, subject);
    return number ? 0
                  : err_set(p->err, ERR_INVALID,
                            "container has runAsNonRoot and image will run as root %s: give it a "
                            "runAsUser",
                            subject);
}

int plan_security(struct planner *p, const struct json *container, struct pod_container *ret)
{
    const struct json *security = json_get(container, "securityContext");
    const struct json *of_pod = json_at(p->input->pod, "spec", "securityContext", NULL);
    /* Before this function, plan_image() has set ret->user and ret->group to those of the image. */
    int64_t given = json_get_int(security, "runAsUser", json_get_int(of_pod, "runAsUser", -1));
    ret->user = given < 0 ? ret->user : given;
    ret->group =
        json_get_int(security, "runAsGroup", json_get_int(of_pod, "runAsGroup", ret->group));
    const char *filter = json_get_string(json_get(of_pod, "seccompProfile"), "type", "");
    filter = json_get_string(json_get(security, "seccompProfile"), "type", filter);
    ret->unconfined = str_eq(filter, "Unconfined");
    ret->read_only = json_get_bool(security, "readOnlyRootFilesystem", false);
    ret->capabilities = plan_capabilities(p, json_get(security, "capabilities"));
    if (json_get_bool(security, "privileged", false))
        return err_set(p->err, ERR_UNSUPPORTED,
                       "privileged containers are not supported on this machine: a pod never gets "
                       "more privileges than its sandbox");
    bool non_root =
        json_get_bool(security, "runAsNonRoot", json_get_bool(of_pod, "runAsNonRoot", false));
    return non_root ? check_non_root(p, ret, given) : 0;
}

static void add_group(struct pod_spec *spec, int64_t group)
{
    if (group >= 0 && spec->extra_group_count < POD_GROUPS_MAX)
        spec->extra_groups[spec->extra_group_count++] = group;
}

int plan_pod_security(struct planner *p)
{
    const struct json *security = json_at(p->input->pod, "spec", "securityContext", NULL);
    struct pod_spec *spec = p->spec;
    /* An ordinary user can set only one group; plan/unsupported.c reports that. */
    if (!p->input->nested) {
        add_group(spec, json_get_int(security, "fsGroup", -1));
        JSON_EACH (group, json_get(security, "supplementalGroups")) {
            add_group(spec, group->type == JSON_INT ? group->integer : -1);
        }
    }
    JSON_EACH (row, json_get(security, "sysctls")) {
        const char *name = json_get_string(row, "name", "");
        char *dotted = arena_strdup(p->arena, name);
        for (char *at = dotted; *at; at++)
            *at = *at == '/' ? '.' : *at;
        if (!sysctl_is_of_pod(dotted, spec->network != NULL, !spec->machine_ipc))
            return err_set(p->err, ERR_INVALID,
                           "forbidden sysctl: \"%s\" not allowlisted: a pod may set only sysctls "
                           "of its own namespaces (net.* with a network of its own, kernel.shm*, "
                           "kernel.msg*, kernel.sem, fs.mqueue.*)",
                           name);
        pod_strings_add(p->arena, &spec->sysctls,
                        arena_printf(p->arena, "%s=%s", dotted, json_get_string(row, "value", "")));
    }
    return 0;
}
