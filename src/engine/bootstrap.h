/* Writes the objects that every cluster has: the first namespaces, the default service account and
 * the CA certificate in each namespace, the default roles, bindings, StorageClass and
 * PriorityClasses, and the service accounts of Kubeflow. engine_new() writes all of them when the
 * server starts. The admission of a new namespace writes the namespace's objects, which are
 * committed no later than the namespace. */
#ifndef TRAINYARD_ENGINE_BOOTSTRAP_H
#define TRAINYARD_ENGINE_BOOTSTRAP_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "store/store.h"

/* The inputs of the functions below. */
struct bootstrap {
    struct store *store;
    int64_t now_ms;     /* wall time; the creationTimestamp of new objects */
    const char *ca_pem; /* the CA certificate; NULL: no ConfigMap kube-root-ca.crt is written */
};

/* Queues the writes of all objects that are missing or cannot be read. Updates the rules of default
 * ClusterRoles and the CA certificates if they differ, unless an annotation forbids it. Removes
 * unreadable objects that the server creates again when it needs them. Returns an error if the
 * store refuses a write. */
int bootstrap_cluster(const struct bootstrap *bootstrap, struct err *err);

/* Queues the writes of the ServiceAccount "default" and the ConfigMap "kube-root-ca.crt" of a
 * namespace, if they are missing or cannot be read. Updates a CA certificate that differs. */
int bootstrap_namespace_content(const struct bootstrap *bootstrap, const char *namespace_,
                                struct err *err);

/* ---- bootstrap_roles.c */

/* Returns the default role, service account or binding at `position`, counted from 0, or NULL after
 * the last. The object is in the arena. Sets *ret_resource to its kind. */
struct json *bootstrap_role_at(struct arena *arena, size_t position,
                               const struct kube_kind **ret_resource);

#endif
