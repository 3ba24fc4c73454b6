/* The admission of pods and namespaces; see admission.h. */
#include "engine/admission/admission.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/bootstrap.h"
#include "kube/condition.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/node.h"
#include "kube/object.h"

/* The store commits the objects of the namespace no later than the namespace, because they are
 * queued first. So a client can create pods as soon as the namespace exists. */
int admission_admit_namespace(struct api_call *call, struct json *namespace_,
                              const struct json *old, struct err *err)
{
    if (old || call->dry_run)
        return 0;
    struct bootstrap bootstrap = engine_bootstrap(call->engine);
    return bootstrap_namespace_content(&bootstrap, kube_meta_name(namespace_), err);
}

/* ---- A pod's account ------------------------------------------------------------------------- */

static const char MOUNT_PATH[] = "/var/run/secrets/kubernetes.io/serviceaccount";
static const char VOLUME_PREFIX[] = "kube-api-access-";

/* The value of expirationSeconds that Kubernetes sets. The node ignores it and requests a longer
 * lifetime (node/pod/tokens.c), because a token becomes invalid when its pod is deleted. */
enum { TOKEN_LIFETIME_S = 3607 };

static struct json *add_source(struct arena *arena, struct json *sources, const char *type)
{
    struct json *source = json_object(arena);
    json_append(sources, source);
    return json_ensure_object(arena, source, type);
}

/* Makes the volume with the files token, ca.crt and namespace, which Kubernetes clients in pods
 * read. */
static struct json *token_volume(struct arena *arena, const char *name)
{
    struct json *volume = json_object(arena), *item;
    json_set_string(arena, volume, "name", name);
    struct json *projected = json_ensure_object(arena, volume, "projected");
    struct json *sources = json_ensure_array(arena, projected, "sources");
    json_set_int(arena, projected, "defaultMode", 0644);

    struct json *token = add_source(arena, sources, "serviceAccountToken");
    json_set_int(arena, token, "expirationSeconds", TOKEN_LIFETIME_S);
    json_set_string(arena, token, "path", "token");

    struct json *map = add_source(arena, sources, "configMap");
    json_set_string(arena, map, "name", "kube-root-ca.crt");
    json_append(json_ensure_array(arena, map, "items"), item = json_object(arena));
    json_set_string(arena, item, "key", "ca.crt");
    json_set_string(arena, item, "path", "ca.crt");

    struct json *downward = add_source(arena, sources, "downwardAPI");
    json_append(json_ensure_array(arena, downward, "items"), item = json_object(arena));
    json_set_string(arena, item, "path", "namespace");
    struct json *field = json_ensure_object(arena, item, "fieldRef");
    json_set_string(arena, field, "apiVersion", "v1");
    json_set_string(arena, field, "fieldPath", "metadata.namespace");
    return volume;
}

static bool has_mount(const struct json *container)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        if (str_eq(json_get_string(mount, "mountPath", ""), MOUNT_PATH))
            return true;
    }
    return false;
}

/* Adds the volume of token_volume() to the pod and mounts it into every container that has no
 * mount at MOUNT_PATH. */
static void mount_token_volume(struct arena *arena, struct json *spec)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const char *name = meta_generate_name(arena, VOLUME_PREFIX);
    bool mounted = false;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_get(spec, lists[i])) {
            if (has_mount(container))
                continue;
            struct json *mount = json_object(arena);
            json_set_string(arena, mount, "name", name);
            json_set_bool(arena, mount, "readOnly", true);
            json_set_string(arena, mount, "mountPath", MOUNT_PATH);
            json_append(json_ensure_array(arena, container, "volumeMounts"), mount);
            mounted = true;
        }
    }
    if (mounted)
        json_append(json_ensure_array(arena, spec, "volumes"), token_volume(arena, name));
}

/* Loads the service account that the pod names. Returns -ERR_FORBIDDEN if it does not exist. */
static int load_account(struct api_call *call, const struct json *pod, struct json **ret,
                        struct err *err)
{
    const char *name = json_get_string(json_get(pod, "spec"), "serviceAccountName", "");
    const char *namespace_ = call->route.namespace_;
    const struct kube_kind *accounts = &KUBE_SERVICEACCOUNT_KIND;
    struct store_object *stored = store_get_pending(
        engine_store(call->engine), stored_key(call->arena, accounts, namespace_, name));
    if (!stored)
        return err_set(err, ERR_FORBIDDEN,
                       "pods \"%s\" is forbidden: error looking up service account %s/%.253s: "
                       "serviceaccount \"%.253s\" not found",
                       kube_meta_name(pod), namespace_, name, name);
    int result = stored_read(call->arena, stored, ret, err);
    store_object_unref(stored);
    return result;
}

/* ---- Default tolerations of a pod ------------------------------------------------------------ */

/* The default of tolerationSeconds for the taints not-ready and unreachable. */
enum { TOLERATION_S = 300 };

/* Returns whether the pod has a toleration for the taint with the effect NoExecute. */
static bool tolerates_taint(const struct json *spec, const char *taint)
{
    JSON_EACH (toleration, json_get(spec, "tolerations")) {
        const char *key = json_get_string(toleration, "key", "");
        const char *effect = json_get_string(toleration, "effect", "");
        if ((key[0] == '\0' || str_eq(key, taint)) &&
            (effect[0] == '\0' || str_eq(effect, "NoExecute")))
            return true;
    }
    return false;
}

static void add_default_tolerations(struct arena *arena, struct json *spec)
{
    static const char *const taints[] = {TAINT_NOT_READY, TAINT_UNREACHABLE};
    for (size_t i = 0; i < ARRAY_SIZE(taints); i++) {
        if (tolerates_taint(spec, taints[i]))
            continue;
        struct json *toleration = json_object(arena);
        json_set_string(arena, toleration, "key", taints[i]);
        json_set_string(arena, toleration, "operator", "Exists");
        json_set_string(arena, toleration, "effect", "NoExecute");
        json_set_int(arena, toleration, "tolerationSeconds", TOLERATION_S);
        json_append(json_ensure_array(arena, spec, "tolerations"), toleration);
    }
}

/* Sets the condition of a pod that has scheduling gates. */
static void set_gated_condition(struct arena *arena, struct json *pod)
{
    const struct kube_condition gated = {
        .type = "PodScheduled",
        .status = "False",
        .reason = "SchedulingGated",
        .message = "Scheduling is blocked due to non-empty scheduling gates",
        .now_ms = -1};
    struct json *status = json_ensure_object(arena, pod, "status");
    struct json *condition =
        kube_condition_set(arena, json_ensure_array(arena, status, "conditions"), &gated, 0);
    json_set(arena, condition, "lastProbeTime", json_null(arena));
    json_set(arena, condition, "lastTransitionTime", json_null(arena));
}

int admission_admit_pod(struct api_call *call, struct json *pod, const struct json *old,
                        struct err *err)
{
    static const char automount[] = "automountServiceAccountToken";
    struct json *spec = json_get(pod, "spec"), *account = NULL;
    if (old)
        return 0;
    int result = admission_limit_pod(call, pod, err);
    if (result < 0)
        return result;
    default_string(call->arena, spec, "serviceAccountName", "default");
    default_string(call->arena, spec, "serviceAccount",
                   json_get_string(spec, "serviceAccountName", ""));
    result = load_account(call, pod, &account, err);
    if (result < 0)
        return result;
    result = admission_set_priority(call, pod, err);
    if (result < 0)
        return result;
    const struct bootstrap bootstrap = engine_bootstrap(call->engine);
    bool has_tokens = bootstrap.ca_pem && engine_signer(call->engine)->sign;
    if (has_tokens && json_get_bool(spec, automount, json_get_bool(account, automount, true)))
        mount_token_volume(call->arena, spec);
    add_default_tolerations(call->arena, spec);
    if (json_count(json_get(spec, "schedulingGates")) > 0)
        set_gated_condition(call->arena, pod);
    return 0;
}
