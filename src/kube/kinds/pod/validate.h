/* Shared by the files that validate pods. Decoding has already checked the types of all values in
 * the spec. */
#ifndef TRAINYARD_KUBE_KINDS_POD_VALIDATE_H
#define TRAINYARD_KUBE_KINDS_POD_VALIDATE_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/schema/field_error.h"

struct pod_scope {
    struct field_errors *errors;
    const struct json *pod, *spec;
    struct map volumes; /* by name; filled by kube_pod_validate_volumes() */
};

/* validate_container.c; `list` is "containers" or "initContainers". */
void kube_pod_validate_containers(struct pod_scope *scope, const char *list);
void kube_pod_validate_host_ports(struct pod_scope *scope);

/* Validate the parts of the container at `field`: variables, mounts and devices, resources, probes
 * and lifecycle hooks, security context. */
void kube_pod_validate_env(struct field_errors *errors, const struct json *container,
                           const char *field);
void kube_pod_validate_mounts(struct pod_scope *scope, const struct json *container,
                              const char *field);
void kube_pod_validate_amounts(struct field_errors *errors, const struct json *container,
                               const char *field);
void kube_pod_validate_watched(struct pod_scope *scope, const struct json *container, bool init,
                               const char *field);
void kube_pod_validate_container_security(struct field_errors *errors, const struct json *context,
                                          const char *field);

/* validate_env.c: validate references to fields of the pod. `supported` lists the allowed
 * fields. */
void kube_pod_validate_field_ref(struct field_errors *errors, const struct json *ref,
                                 const char *const *supported, const char *field);
void kube_pod_validate_resource_ref(struct field_errors *errors, const struct json *ref,
                                    const char *field);

/* validate_volume.c */
void kube_pod_validate_volumes(struct pod_scope *scope);
/* Validate volume sources that PersistentVolumes have, too. */
void kube_pod_validate_host_path(struct field_errors *errors, const struct json *source,
                                 const char *field);
void kube_pod_validate_nfs(struct field_errors *errors, const struct json *source,
                           const char *field);

/* validate_place.c: fields that choose the nodes on which the pod may run. */
void kube_pod_validate_tolerations(struct pod_scope *scope);
void kube_pod_validate_affinity(struct pod_scope *scope);
void kube_pod_validate_spreading(struct pod_scope *scope);

/* validate_security.c */
void kube_pod_validate_security(struct pod_scope *scope);

/* validate_update.c: validates the changes from `old` to `pod`. */
void kube_pod_validate_update(struct field_errors *errors, const struct json *pod,
                              const struct json *old);

#endif
