/* Searches the statuses of a pod for one container; see pod_container.h. */
#include "kube/pod_container.h"

#include "base/mem.h"
#include "base/str.h"

const struct json *kube_pod_container_status(const struct json *pod, const char *container)
{
    static const char *const lists[] = {"containerStatuses", "initContainerStatuses"};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (status, json_at(pod, "status", lists[i], NULL)) {
            if (str_eq(json_get_string(status, "name", ""), container))
                return status;
        }
    }
    return NULL;
}
