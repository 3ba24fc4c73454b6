/* What a write needs besides being right in itself: what the store must have for it or hold after
 * it. Hooks of the registry, called after validation and before the write is queued. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "engine/bootstrap.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/node.h"
#include "kube/object.h"

/* A namespace comes with its account and certificate, in the same commit: who made it may use it at
 * once. */
int rest_admit_namespace(struct rest *rest, struct json *namespace_, const struct json *old,
                         struct err *err)
{
    if (old || rest->dry_run)
        return 0;
    struct bootstrap bootstrap = engine_bootstrap(rest->engine);
    return bootstrap_namespace_content(&bootstrap, kube_meta_name(namespace_), err);
}

/* ---- A pod's account ------------------------------------------------------------------------- */

static const char MOUNT_PATH[] = "/var/run/secrets/kubernetes.io/serviceaccount";
static const char VOLUME_PREFIX[] = "kube-api-access-";

/* As Kubernetes writes it. The node gives a token for longer: it ends with the pod anyway. */
enum { TOKEN_LIFE_S = 3607 };

static struct json *add_source(struct arena *arena, struct json *sources, const char *type)
{
    struct json *source = json_object(arena);
    json_append(sources, source);
    return json_ensure_object(arena, source, type);
}

/* token, ca.crt and namespace: what a client in a pod looks for. */
static struct json *access_volume(struct arena *arena, const char *name)
{
    struct json *volume = json_object(arena), *item;
    json_set_string(arena, volume, "name", name);
    struct json *projected = json_ensure_object(arena, volume, "projected");
    struct json *sources = json_ensure_array(arena, projected, "sources");
    json_set_int(arena, projected, "defaultMode", 0644);

    struct json *token = add_source(arena, sources, "serviceAccountToken");
    json_set_int(arena, token, "expirationSeconds", TOKEN_LIFE_S);
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

/* Into every container that has nothing of its own there. */
static void mount_access(struct arena *arena, struct json *spec)
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
        json_append(json_ensure_array(arena, spec, "volumes"), access_volume(arena, name));
}

static int load_account(struct rest *rest, const struct json *pod, struct json **ret,
                        struct err *err)
{
    const char *name = json_get_string(json_get(pod, "spec"), "serviceAccountName", "");
    const char *namespace_ = rest->route.namespace_;
    const struct kube_kind *accounts = &KUBE_SERVICEACCOUNT_KIND;
    struct store_object *stored = store_get_pending(
        engine_store(rest->engine), registry_key(rest->arena, accounts, namespace_, name));
    if (!stored)
        return err_set(err, ERR_FORBIDDEN,
                       "pods \"%s\" is forbidden: error looking up service account %s/%.253s: "
                       "serviceaccount \"%.253s\" not found",
                       kube_meta_name(pod), namespace_, name, name);
    int r = stored_read(rest->arena, stored, ret, err);
    store_object_unref(stored);
    return r;
}

/* ---- A pod's patience ------------------------------------------------------------------------ */

/* How long a pod stays on a node that does not answer, where it does not say. */
enum { PATIENCE_S = 300 };

static bool puts_up_with(const struct json *spec, const char *taint)
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

static void add_patience(struct arena *arena, struct json *spec)
{
    static const char *const taints[] = {TAINT_NOT_READY, TAINT_UNREACHABLE};
    for (size_t i = 0; i < ARRAY_SIZE(taints); i++) {
        if (puts_up_with(spec, taints[i]))
            continue;
        struct json *toleration = json_object(arena);
        json_set_string(arena, toleration, "key", taints[i]);
        json_set_string(arena, toleration, "operator", "Exists");
        json_set_string(arena, toleration, "effect", "NoExecute");
        json_set_int(arena, toleration, "tolerationSeconds", PATIENCE_S);
        json_append(json_ensure_array(arena, spec, "tolerations"), toleration);
    }
}

static void add_gated(struct arena *arena, struct json *pod)
{
    struct json *condition = kube_condition_ensure(arena, pod, "PodScheduled");
    json_set_string(arena, condition, "status", "False");
    json_set(arena, condition, "lastProbeTime", json_null(arena));
    json_set(arena, condition, "lastTransitionTime", json_null(arena));
    json_set_string(arena, condition, "reason", "SchedulingGated");
    json_set_string(arena, condition, "message",
                    "Scheduling is blocked due to non-empty scheduling gates");
}

int rest_admit_pod(struct rest *rest, struct json *pod, const struct json *old, struct err *err)
{
    static const char automount[] = "automountServiceAccountToken";
    struct json *spec = json_get(pod, "spec"), *account = NULL;
    if (old)
        return 0;
    int r = rest_admit_pod_limits(rest, pod, err);
    if (r < 0)
        return r;
    default_string(rest->arena, spec, "serviceAccountName", "default");
    default_string(rest->arena, spec, "serviceAccount",
                   json_get_string(spec, "serviceAccountName", ""));
    r = load_account(rest, pod, &account, err);
    if (r < 0)
        return r;
    r = rest_admit_priority(rest, pod, err);
    if (r < 0)
        return r;
    const struct bootstrap bootstrap = engine_bootstrap(rest->engine);
    bool can = bootstrap.ca_pem && engine_seal(rest->engine)->make;
    if (can && json_get_bool(spec, automount, json_get_bool(account, automount, true)))
        mount_access(rest->arena, spec);
    add_patience(rest->arena, spec);
    if (json_count(json_get(spec, "schedulingGates")) > 0)
        add_gated(rest->arena, pod);
    return 0;
}
