/* Computes the limits of a pod in units of control groups; see plan/limits.h. */
#include "node/plan/limits.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"

enum { SHARES_MIN = 2, SHARES_PER_CPU = 1024, QUOTA_MIN_US = 1000, MILLI = 1000 };

/* Amounts of the two resources that control groups limit. */
struct amounts {
    int64_t cpu_milli, memory_bytes;
};

static struct amounts read_amounts(const struct json *container, const char *which)
{
    const struct json *list = json_at(container, "resources", which, NULL);
    struct kube_quantity cpu = {0}, memory = {0};
    (void)kube_quantity_from_json(json_get(list, "cpu"), &cpu, NULL);
    (void)kube_quantity_from_json(json_get(list, "memory"), &memory, NULL);
    return (struct amounts){kube_quantity_milli(&cpu), kube_quantity_value(&memory)};
}

static struct amounts limits_sum_amounts(struct amounts a, struct amounts b)
{
    return (struct amounts){a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
}

static struct amounts limits_larger_amounts(struct amounts a, struct amounts b)
{
    return (struct amounts){a.cpu_milli > b.cpu_milli ? a.cpu_milli : b.cpu_milli,
                            a.memory_bytes > b.memory_bytes ? a.memory_bytes : b.memory_bytes};
}

static int64_t to_shares(int64_t cpu_milli)
{
    int64_t shares = cpu_milli * SHARES_PER_CPU / MILLI;
    return shares < SHARES_MIN ? SHARES_MIN : shares;
}

static int64_t to_quota(int64_t cpu_milli)
{
    int64_t quota = cpu_milli * CGROUP_PERIOD_US / MILLI;
    return !cpu_milli ? 0 : quota < QUOTA_MIN_US ? QUOTA_MIN_US : quota;
}

void plan_limits_of_container(const struct json *container, struct cgroup_limits *ret)
{
    struct amounts requests = read_amounts(container, "requests");
    struct amounts limits = read_amounts(container, "limits");
    *ret = (struct cgroup_limits){
        .cpu_shares = to_shares(requests.cpu_milli ? requests.cpu_milli : limits.cpu_milli),
        .cpu_quota_us = to_quota(limits.cpu_milli),
        .memory_bytes = limits.memory_bytes,
    };
}

static bool limits_is_sidecar(const struct json *init)
{
    return str_eq(json_get_string(init, "restartPolicy", ""), "Always");
}

/* Returns the requests or limits of a pod: the sum over its containers and sidecars. If an init
 * container and the sidecars before it have a larger sum, that sum is used. A pod has a limit only
 * if each of its containers has one. */
static struct amounts limits_of_all_containers(const struct json *pod, const char *which)
{
    struct amounts total = {0}, most = {0};
    bool has_cpu = true, has_memory = true;
    static const char *const LISTS[] = {"initContainers", "containers"};
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            struct amounts own = read_amounts(container, which);
            has_cpu = has_cpu && own.cpu_milli;
            has_memory = has_memory && own.memory_bytes;
            if (i == 1 || limits_is_sidecar(container))
                total = limits_sum_amounts(total, own);
            else
                most = limits_larger_amounts(most, limits_sum_amounts(total, own));
        }
    }
    most = limits_larger_amounts(most, total);
    bool is_limit = str_eq(which, "limits");
    return (struct amounts){has_cpu || !is_limit ? most.cpu_milli : 0,
                            has_memory || !is_limit ? most.memory_bytes : 0};
}

static int read_pids(const struct json *pod, int64_t *ret, struct err *err)
{
    const char *text =
        json_get_string(json_at(pod, "metadata", "annotations", NULL), POD_PIDS_ANNOTATION, NULL);
    *ret = POD_PIDS_DEFAULT;
    if (text && str_to_int64(text, 1, POD_PIDS_MAX, ret, err) < 0)
        return err_wrap(err, "annotation " POD_PIDS_ANNOTATION);
    return 0;
}

int plan_limits_of_pod(const struct json *pod, struct cgroup_limits *ret, struct err *err)
{
    struct amounts requests = limits_of_all_containers(pod, "requests"),
                   limits = limits_of_all_containers(pod, "limits");
    *ret = (struct cgroup_limits){
        .cpu_shares = to_shares(requests.cpu_milli),
        .cpu_quota_us = to_quota(limits.cpu_milli),
        .memory_bytes = limits.memory_bytes,
    };
    return read_pids(pod, &ret->pids, err);
}

int plan_limits(const struct json *pod, struct pod_spec *spec, struct err *err)
{
    int result = plan_limits_of_pod(pod, &spec->limits, err);
    if (result < 0)
        return result;
    size_t i = 0;
    static const char *const LISTS[] = {"initContainers", "containers"};
    for (size_t k = 0; k < ARRAY_SIZE(LISTS); k++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[k], NULL)) {
            if (i < spec->container_count)
                plan_limits_of_container(container, &spec->containers[i++].limits);
        }
    }
    return 0;
}

const char *plan_limits_not_enforced(const struct json *pod, unsigned controllers)
{
    struct amounts limits = {0};
    static const char *const LISTS[] = {"initContainers", "containers"};
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL))
            limits = limits_sum_amounts(limits, read_amounts(container, "limits"));
    }
    bool cpu = limits.cpu_milli && !(controllers & CGROUP_CPU);
    bool memory = limits.memory_bytes && !(controllers & CGROUP_MEMORY);
    return cpu && memory ? "cpu and memory" : cpu ? "cpu" : memory ? "memory" : NULL;
}
