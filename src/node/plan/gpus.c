/* Plans the GPUs of a container; see plan/internal.h. A container that requests GPUs gets the
 * device files of all GPUs, and variables that list the GPUs that it may use. CUDA numbers the GPUs
 * whose files it finds. With the files of only some GPUs, these numbers would differ from those in
 * the variables. A sandbox has no device file of a GPU if its container requests none. A container
 * without namespaces sees the machine's /dev. */
#include "node/plan/internal.h"

#include "kube/devices.h"
#include "kube/object.h"
#include "node/gpus.h"

#include <string.h>

int plan_gpus(struct planner *p, const struct json *container, struct pod_container *ret)
{
    int64_t requested = kube_devices_requested(container);
    const char *assigned = kube_devices_of(
        p->arena, kube_meta_annotation(p->input->pod, KUBE_DEVICES_ANNOTATION), ret->name);
    if (requested == 0)
        return 0;
    if (assigned[0] == '\0')
        return err_set(p->err, ERR_UNSUPPORTED,
                       "the scheduler did not place the pod, so no GPU is reserved for it: leave "
                       "out spec.nodeName and use a nodeSelector");
    environment_set(p->arena, &ret->environment, "CUDA_VISIBLE_DEVICES", assigned);
    environment_set(p->arena, &ret->environment, "NVIDIA_VISIBLE_DEVICES", assigned);
    gpus_devices(p->arena, "/dev", &ret->devices);
    return 0;
}
