/* Shared by the files that validate pods. Decoding has already checked the types of all values in
 * the spec. */
#ifndef TRAINYARD_KUBE_KINDS_POD_VALIDATE_H
#define TRAINYARD_KUBE_KINDS_POD_VALIDATE_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/schema/field_error.h"

/* The pod that is validated. */
struct pod_scope {
    struct field_errors *errors;
    const struct json *pod, *spec; /* the pod and its spec */
    struct map volumes;            /* the volumes by name; filled by kube_pod_validate_volumes() */
};

/* Validates all containers of a list: "containers" or "initContainers". */
void kube_pod_validate_containers(struct pod_scope *scope, const char *list);
/* Checks that no two ports of the containers have the same protocol, host IP and host port. Init
 * containers are not checked. */
void kube_pod_validate_host_ports(struct pod_scope *scope);

/* Each of these functions validates a part of the container at `field`. */
void kube_pod_validate_env(struct field_errors *errors, const struct json *container,
                           const char *field);
void kube_pod_validate_mounts(struct pod_scope *scope, const struct json *container,
                              const char *field);
/* Validates the resource requests and limits. */
void kube_pod_validate_amounts(struct field_errors *errors, const struct json *container,
                               const char *field);
/* Validates the probes and lifecycle hooks. `init`: the container is an init container. */
void kube_pod_validate_probes(struct pod_scope *scope, const struct json *container, bool init,
                              const char *field);
void kube_pod_validate_container_security(struct field_errors *errors, const struct json *context,
                                          const char *field);

/* Validates a reference to a field of the pod. `supported` lists the allowed fields; one label or
 * annotation, as in metadata.labels['key'], is always allowed. */
void kube_pod_validate_field_ref(struct field_errors *errors, const struct json *ref,
                                 const char *const *supported, const char *field);
/* Validates a reference to a request or limit of a container. */
void kube_pod_validate_resource_ref(struct field_errors *errors, const struct json *ref,
                                    const char *field);

void kube_pod_validate_volumes(struct pod_scope *scope);
/* These functions validate sources that volumes of pods and PersistentVolumes can have. */
void kube_pod_validate_host_path(struct field_errors *errors, const struct json *source,
                                 const char *field);
void kube_pod_validate_nfs(struct field_errors *errors, const struct json *source,
                           const char *field);

/* These functions validate the fields that choose the nodes on which the pod may run. */
void kube_pod_validate_tolerations(struct pod_scope *scope);
void kube_pod_validate_affinity(struct pod_scope *scope);
void kube_pod_validate_spreading(struct pod_scope *scope);

/* Validates the security context of the pod. */
void kube_pod_validate_security(struct pod_scope *scope);

/* Validates the changes from `old` to `pod`. */
void kube_pod_validate_update(struct field_errors *errors, const struct json *pod,
                              const struct json *old);

#endif
