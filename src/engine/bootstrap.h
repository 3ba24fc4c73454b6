/* What every cluster has before anybody asks: its first namespaces, in each namespace the account
 * and the certificate pods start with, the roles of Kubernetes, and the accounts of Kubeflow.
 * Written when the server starts, and for a namespace in one commit with the namespace itself. */
#ifndef TRAINYARD_ENGINE_BOOTSTRAP_H
#define TRAINYARD_ENGINE_BOOTSTRAP_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "store/store.h"

struct bootstrap {
    struct store *store;
    int64_t now_ms;     /* wall time */
    const char *ca_pem; /* NULL: no kube-root-ca.crt is made */
};

/* Everything that is missing, and what an older server wrote otherwise. */
int bootstrap_cluster(const struct bootstrap *bootstrap, struct err *err);

/* ServiceAccount "default" and ConfigMap "kube-root-ca.crt". */
int bootstrap_namespace_content(const struct bootstrap *bootstrap, const char *namespace_,
                                struct err *err);

/* ---- bootstrap_roles.c: the next default role, account or binding, made in the arena; NULL at the
 * end. `ret_resource` is its resource. */
struct json *bootstrap_role_at(struct arena *arena, size_t position,
                               const struct kube_kind **ret_resource);

#endif
