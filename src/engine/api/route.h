/* From method and path to what is asked of which resource. Pure and fuzzed: paths come from
 * outside. */
#ifndef TRAINYARD_ENGINE_ROUTE_H
#define TRAINYARD_ENGINE_ROUTE_H

#include "base/arena.h"
#include "base/err.h"
#include "engine/kinds/registry.h"

enum { ROUTE_SEGMENT_MAX = 253 }; /* longest name Kubernetes allows */

struct route {
    const struct kube_kind *resource;
    const struct kube_older_version
        *older; /* the version the client speaks; NULL: the stored one */
    enum kube_verb verb;
    const char *namespace_; /* "" for a cluster-wide resource, or across namespaces */
    const char *name;       /* NULL: the collection */
    enum kube_subresource_id sub;
    const char *rest; /* of SUB_PROXY: the path behind it, "" or "/a/b"; else "" */
};

/* Where the path is one of a proxy subresource: what follows ".../proxy", which is the path of
 * another server and may be anything; else NULL. */
const char *route_proxy_rest(const char *path);

/* ERR_NOT_FOUND for what is not served, ERR_METHOD for a verb the resource does not know, in
 * Kubernetes' words. Strings of the result live in the arena; the resource is the
 * registry's, to be held by who needs it longer. */
int route_parse(struct arena *arena, const struct registry *registry, const char *method,
                const char *path, const char *query, struct route *ret, struct err *err);

/* Whether the path is one of a resource, served or not: "/api/v1/pods" is, "/apis/apps/v1" not. */
bool route_is_resource(const char *path);

#endif
