/* Finds the claim of a volume and checks its owner; see pod_claim.h. */
#include "kube/pod_claim.h"

#include "kube/object.h"

const char *kube_pod_claim_name(struct arena *arena, const struct json *pod,
                                const struct json *volume)
{
    if (json_get(volume, "ephemeral"))
        return arena_printf(arena, "%s-%s", kube_meta_name(pod),
                            json_get_string(volume, "name", ""));
    return json_get_string(json_get(volume, "persistentVolumeClaim"), "claimName", NULL);
}

const char *kube_pod_claim_rejection(struct arena *arena, const struct json *pod,
                                     const struct json *claim)
{
    if (kube_meta_is_controlled_by(claim, kube_meta_uid(pod)))
        return NULL;
    return arena_printf(arena, "PVC %s/%s was not created for pod %s/%s (pod is not owner)",
                        kube_meta_namespace(claim), kube_meta_name(claim), kube_meta_namespace(pod),
                        kube_meta_name(pod));
}
