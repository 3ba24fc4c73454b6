/* Who a container runs as. */
#include "node/pod_plan_internal.h"

int planner_security(struct planner *p, const struct json *container, struct pod_container *ret)
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
