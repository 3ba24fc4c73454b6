/* Counts the usage of objects and compares it with a ResourceQuota; see quota.h. */
#include "engine/admission/quota.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 2048 };

/* ---- Amounts --------------------------------------------------------------------------------- */

static struct kube_quantity amount_of(const struct json *amounts, const char *name)
{
    struct kube_quantity quantity = {0};
    const struct json *value = json_get(amounts, name);
    if (value && kube_quantity_from_json(value, &quantity, NULL) < 0)
        quantity = (struct kube_quantity){0};
    return quantity;
}

static void set_amount(struct arena *arena, struct json *amounts, const char *name,
                       const struct kube_quantity *quantity)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_format(quantity, text);
    json_set_string(arena, amounts, name, text);
}

static void add_amount(struct arena *arena, struct json *amounts, const char *name,
                       const struct kube_quantity *more)
{
    struct kube_quantity sum = amount_of(amounts, name);
    if (sum.nano == 0)
        sum.form = more->form;
    kube_quantity_add(&sum, more);
    set_amount(arena, amounts, name, &sum);
}

static void add_count(struct arena *arena, struct json *amounts, const char *name, int64_t count)
{
    struct kube_quantity quantity = {.nano = count};
    quantity.nano *= 1000 * 1000 * 1000;
    add_amount(arena, amounts, name, &quantity);
}

void quota_add(struct arena *arena, struct json *total, const struct json *amounts)
{
    JSON_EACH (amount, amounts) {
        struct kube_quantity quantity = amount_of(amounts, amount->name);
        add_amount(arena, total, amount->name, &quantity);
    }
}

/* ---- Pods ------------------------------------------------------------------------------------ */

/* Adds an amount of a container under each name that a quota has for it. A request for cpu counts
 * as "requests.cpu" and as "cpu". */
static void count_resource(struct arena *arena, struct json *usage, const char *prefix,
                           const char *resource, const struct kube_quantity *quantity)
{
    bool is_request = str_eq(prefix, "requests");
    if (!is_request && strchr(resource, '/'))
        return;
    add_amount(arena, usage, arena_printf(arena, "%s.%s", prefix, resource), quantity);
    if (is_request && !strchr(resource, '/'))
        add_amount(arena, usage, resource, quantity);
}

/* Adds the requests and limits of a container. */
static void count_container(struct arena *arena, struct json *usage, const struct json *container)
{
    static const char *const sides[] = {"requests", "limits"};
    for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
        const struct json *amounts = json_at(container, "resources", sides[i], NULL);
        JSON_EACH (amount, amounts) {
            struct kube_quantity quantity = amount_of(amounts, amount->name);
            count_resource(arena, usage, sides[i], amount->name, &quantity);
        }
    }
}

/* Raises each amount in `usage` to the amount in `other` if it is less. */
static void raise_amounts(struct arena *arena, struct json *usage, const struct json *other)
{
    JSON_EACH (amount, other) {
        struct kube_quantity quantity = amount_of(other, amount->name),
                             counted = amount_of(usage, amount->name);
        if (kube_quantity_compare(&quantity, &counted) > 0)
            set_amount(arena, usage, amount->name, &quantity);
    }
}

/* Adds the init containers to `usage`, which has the other containers. A sidecar (restartPolicy
 * Always) runs together with all later containers. The other init containers have ended before the
 * next container starts. */
static void count_init_containers(struct arena *arena, struct json *usage,
                                  const struct json *containers)
{
    struct json *sidecars = json_object(arena), *peak = json_object(arena);
    JSON_EACH (container, containers) {
        if (str_eq(json_get_string(container, "restartPolicy", ""), "Always")) {
            count_container(arena, usage, container);
            count_container(arena, sidecars, container);
            continue;
        }
        struct json *step = json_clone(arena, sidecars);
        count_container(arena, step, container);
        raise_amounts(arena, peak, step);
    }
    raise_amounts(arena, usage, peak);
}

static bool quota_pod_has_ended(const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

/* Adds the usage of a pod. A pod that has ended counts only as "count/pods". */
static void count_pod(struct arena *arena, struct json *usage, const struct json *pod)
{
    if (quota_pod_has_ended(pod))
        return;
    add_count(arena, usage, "pods", 1);
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL))
        count_container(arena, usage, container);
    count_init_containers(arena, usage, json_at(pod, "spec", "initContainers", NULL));
}

/* ---- Other kinds ----------------------------------------------------------------------------- */

static void count_service(struct arena *arena, struct json *usage, const struct json *service)
{
    const struct json *spec = json_get(service, "spec");
    const char *type = json_get_string(spec, "type", "");
    bool balanced = str_eq(type, "LoadBalancer");
    add_count(arena, usage, "services", 1);
    if (balanced)
        add_count(arena, usage, "services.loadbalancers", 1);
    if (balanced && !json_get_bool(spec, "allocateLoadBalancerNodePorts", true)) {
        JSON_EACH (port, json_get(spec, "ports"))
            add_count(arena, usage, "services.nodeports", json_get_int(port, "nodePort", 0) != 0);
    } else if (balanced || str_eq(type, "NodePort")) {
        add_count(arena, usage, "services.nodeports", (int64_t)json_count(json_get(spec, "ports")));
    }
}

static void count_claim(struct arena *arena, struct json *usage, const struct json *claim)
{
    static const char suffix[] = "storageclass.storage.k8s.io";
    const struct json *requests = json_at(claim, "spec", "resources", "requests", NULL);
    const char *class_ = json_get_string(json_get(claim, "spec"), "storageClassName", "");
    struct kube_quantity size = amount_of(requests, "storage");
    add_count(arena, usage, "persistentvolumeclaims", 1);
    add_amount(arena, usage, "requests.storage", &size);
    if (class_[0] == '\0')
        return;
    add_count(arena, usage, arena_printf(arena, "%s.%s/persistentvolumeclaims", class_, suffix), 1);
    add_amount(arena, usage, arena_printf(arena, "%s.%s/requests.storage", class_, suffix), &size);
}

static bool is_core(const struct kube_resource *id, const char *plural)
{
    return id->group[0] == '\0' && str_eq(id->plural, plural);
}

static const char *count_name(struct arena *arena, const struct kube_resource *id)
{
    return id->group[0] ? arena_printf(arena, "count/%s.%s", id->plural, id->group)
                        : arena_printf(arena, "count/%s", id->plural);
}

struct json *quota_usage(struct arena *arena, const struct kube_resource *id,
                         const struct json *object)
{
    struct json *usage = json_object(arena);
    add_count(arena, usage, count_name(arena, id), 1);
    if (is_core(id, "pods"))
        count_pod(arena, usage, object);
    else if (is_core(id, "services"))
        count_service(arena, usage, object);
    else if (is_core(id, "persistentvolumeclaims"))
        count_claim(arena, usage, object);
    else if (id->group[0] == '\0')
        add_count(arena, usage, id->plural, 1);
    return usage;
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

static bool is_best_effort(const struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    static const char *const names[] = {"cpu", "memory"};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_at(pod, "spec", lists[i], NULL)) {
            for (size_t k = 0; k < ARRAY_SIZE(names); k++)
                if (json_at(container, "resources", "requests", names[k], NULL) ||
                    json_at(container, "resources", "limits", names[k], NULL))
                    return false;
        }
    }
    return true;
}

static bool has_text(const struct json *list, const char *text)
{
    JSON_EACH (item, list) {
        if (str_eq(json_text(item), text))
            return true;
    }
    return false;
}

/* Returns whether the pod is in the scope. `operator_` and `values` limit the scope "PriorityClass"
 * to some classes. */
static bool is_in_scope(const char *scope, const char *operator_, const struct json *values,
                        const struct json *pod)
{
    const struct json *spec = json_get(pod, "spec");
    const char *class_ = json_get_string(spec, "priorityClassName", "");
    bool ends = json_get(spec, "activeDeadlineSeconds") &&
                json_get_int(spec, "activeDeadlineSeconds", -1) >= 0;
    if (str_eq(scope, "Terminating") || str_eq(scope, "NotTerminating"))
        return ends == str_eq(scope, "Terminating");
    if (str_eq(scope, "BestEffort") || str_eq(scope, "NotBestEffort"))
        return is_best_effort(pod) == str_eq(scope, "BestEffort");
    if (!str_eq(scope, "PriorityClass"))
        return false;
    if (str_eq(operator_, "In"))
        return has_text(values, class_);
    if (str_eq(operator_, "NotIn"))
        return !has_text(values, class_);
    return (class_[0] != '\0') == str_eq(operator_, "Exists");
}

bool quota_covers(const struct json *quota, const struct kube_resource *id,
                  const struct json *object)
{
    const struct json *spec = json_get(quota, "spec");
    const struct json *scopes = json_get(spec, "scopes");
    const struct json *terms = json_at(spec, "scopeSelector", "matchExpressions", NULL);
    if (json_count(scopes) + json_count(terms) > 0 && !is_core(id, "pods"))
        return false;
    JSON_EACH (scope, scopes) {
        if (!is_in_scope(json_text(scope), "Exists", NULL, object))
            return false;
    }
    JSON_EACH (term, terms) {
        if (!is_in_scope(json_get_string(term, "scopeName", ""),
                         json_get_string(term, "operator", ""), json_get(term, "values"), object))
            return false;
    }
    return true;
}

/* Returns whether quota_usage() may return the name for a pod. Leaves out "count/pods" and names of
 * ephemeral storage. */
static bool is_of_pods(const char *name)
{
    return !str_has_prefix(name, "count/") && !strstr(name, "storage") &&
           (str_eq(name, "pods") || str_eq(name, "cpu") || str_eq(name, "memory") ||
            str_has_prefix(name, "hugepages-") || str_has_prefix(name, "requests.") ||
            str_has_prefix(name, "limits."));
}

bool quota_limits_kind(const struct json *quota, const struct kube_resource *id)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *count = count_name(arena, id);
    JSON_EACH (item, json_at(quota, "spec", "hard", NULL)) {
        const char *name = item->name;
        if (str_eq(name, count) || (id->group[0] == '\0' && str_eq(name, id->plural)))
            return true;
        if (is_core(id, "pods") && is_of_pods(name))
            return true;
        if (is_core(id, "pods") && strstr(name, "ephemeral-storage"))
            return true;
        if (is_core(id, "services") && str_has_prefix(name, "services."))
            return true;
        if (is_core(id, "persistentvolumeclaims") &&
            (str_eq(name, "requests.storage") || strstr(name, ".storageclass.storage.k8s.io/")))
            return true;
    }
    return false;
}

/* ---- Rejections ------------------------------------------------------------------------------ */

struct json *quota_growth(struct arena *arena, const struct json *quota, const struct json *usage,
                          const struct json *before)
{
    struct json *growth = json_object(arena);
    JSON_EACH (item, json_at(quota, "spec", "hard", NULL)) {
        struct kube_quantity amount = amount_of(usage, item->name);
        struct kube_quantity old_amount = amount_of(before, item->name);
        if (kube_quantity_compare(&amount, &old_amount) <= 0)
            continue;
        amount.nano -= old_amount.nano;
        set_amount(arena, growth, item->name, &amount);
    }
    return growth;
}

static int quota_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the names of the containers that do not set this request or limit, "a,b", or "". Returns
 * at most 128 names. */
static const char *containers_without(struct arena *arena, const struct json *pod, const char *name)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const char *dot = strchr(name, '.');
    const char *side = dot ? arena_strndup(arena, name, (size_t)(dot - name)) : "requests";
    const char *resource = dot ? dot + 1 : name, *text = "";
    const char *lacking[128] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_at(pod, "spec", lists[i], NULL)) {
            if (!json_at(container, "resources", side, resource, NULL) &&
                count < ARRAY_SIZE(lacking))
                lacking[count++] = json_get_string(container, "name", "");
        }
    }
    qsort(lacking, count, sizeof(lacking[0]), quota_compare_names);
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? "," : "", lacking[i]);
    return text;
}

const char *quota_missing_fields(struct arena *arena, const struct json *quota,
                                 const struct json *pod)
{
    /* Sorted by name, in the order of the message. */
    static const char *const required[] = {"cpu",    "limits.cpu",   "limits.memory",
                                           "memory", "requests.cpu", "requests.memory"};
    const char *text = "";
    for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
        const char *lacking = json_at(quota, "spec", "hard", required[i], NULL)
                                  ? containers_without(arena, pod, required[i])
                                  : "";
        if (lacking[0])
            text = arena_printf(arena, "%s%s%s for: %s", text, text[0] ? "; " : "", required[i],
                                lacking);
    }
    return text[0] ? arena_printf(arena, "must specify %s", text) : NULL;
}

/* Returns the amounts with these names as "a=1,b=2". */
static const char *list_amounts(struct arena *arena, const struct json *amounts,
                                const char *const *names, size_t count)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, LIST_MAX);
    for (size_t i = 0; i < count; i++) {
        char amount[KUBE_QUANTITY_TEXT_MAX];
        struct kube_quantity quantity = amount_of(amounts, names[i]);
        kube_quantity_format(&quantity, amount);
        buf_printf(&text, "%s%s=%s", i ? "," : "", names[i], amount);
    }
    return arena_strdup(arena, text.data ? text.data : "");
}

const char *quota_exceeded(struct arena *arena, const struct json *quota, const struct json *growth)
{
    const struct json *hard = json_at(quota, "spec", "hard", NULL);
    const struct json *used = json_at(quota, "status", "used", NULL);
    const char **names = ARENA_ARRAY(arena, const char *, json_count(growth) + 1);
    size_t count = 0;
    JSON_EACH (item, growth) {
        struct kube_quantity sum = amount_of(used, item->name),
                             more = amount_of(growth, item->name);
        struct kube_quantity most = amount_of(hard, item->name);
        kube_quantity_add(&sum, &more);
        if (kube_quantity_compare(&sum, &most) > 0)
            names[count++] = item->name;
    }
    if (count == 0)
        return NULL;
    qsort(names, count, sizeof(*names), quota_compare_names);
    return arena_printf(arena, "exceeded quota: %s, requested: %s, used: %s, limited: %s",
                        kube_meta_name(quota), list_amounts(arena, growth, names, count),
                        list_amounts(arena, used, names, count),
                        list_amounts(arena, hard, names, count));
}
