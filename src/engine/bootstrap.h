/* The objects that every cluster has from the start: the first namespaces, the default service
 * account and the CA certificate in each namespace, the default roles, bindings, StorageClass
 * and PriorityClasses, and the service accounts of Kubeflow. They are written when the server
 * starts. The objects of a new namespace are written in one commit with the namespace. */
#ifndef TRAINYARD_ENGINE_BOOTSTRAP_H
#define TRAINYARD_ENGINE_BOOTSTRAP_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "store/store.h"

struct bootstrap {
    struct store *store;
    int64_t now_ms;     /* wall time */
    const char *ca_pem; /* NULL: no ConfigMap kube-root-ca.crt is made */
};

/* Creates the objects that are missing. Updates the rules of default ClusterRoles and the CA
 * certificates if they differ. Removes unreadable objects that the server creates again when it
 * needs them. */
int bootstrap_cluster(const struct bootstrap *bootstrap, struct err *err);

/* Creates the ServiceAccount "default" and the ConfigMap "kube-root-ca.crt" of a namespace. */
int bootstrap_namespace_content(const struct bootstrap *bootstrap, const char *namespace_,
                                struct err *err);

/* ---- bootstrap_roles.c: returns the default role, service account or binding at `position`,
 * counted from 0, or NULL after the last. Sets *ret_resource to its kind. */
struct json *bootstrap_role_at(struct arena *arena, size_t position,
                               const struct kube_kind **ret_resource);

#endif
