/* Plans the GPUs of a container: its environment names them, and its /dev contains the device
 * files. A container that requests no GPU sees none. A container with GPUs sees all device files,
 * and variables name the GPUs that it may use. CUDA numbers the devices that it sees, so with only
 * some of the files the numbers would differ. */
#include "node/plan/internal.h"

#include "kube/devices.h"
#include "kube/object.h"
#include "node/gpus.h"

#include <string.h>

int plan_gpus(struct planner *p, const struct json *container, struct pod_container *ret)
{
    int64_t asked = kube_devices_requested(container);
    const char *given = kube_devices_of(
        p->arena, kube_meta_annotation(p->input->pod, KUBE_DEVICES_ANNOTATION), ret->name);
    if (asked == 0)
        return 0;
    if (given[0] == '\0')
        return err_set(p->err, ERR_UNSUPPORTED,
                       "the pod was put on its node by hand, so no GPU is set aside for it: leave "
                       "spec.nodeName to the scheduler and use a nodeSelector");
    environment_set(p->arena, &ret->environment, "CUDA_VISIBLE_DEVICES", given);
    environment_set(p->arena, &ret->environment, "NVIDIA_VISIBLE_DEVICES", given);
    gpus_devices(p->arena, "/dev", &ret->devices);
    return 0;
}
