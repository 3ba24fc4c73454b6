/* From method and path to a verb and a resource. Pure and fuzzed, because paths come from outside.
 */
#ifndef TRAINYARD_ENGINE_API_ROUTE_H
#define TRAINYARD_ENGINE_API_ROUTE_H

#include "base/arena.h"
#include "base/err.h"
#include "engine/kinds/registry.h"

enum { ROUTE_SEGMENT_MAX = 253 }; /* the longest name that Kubernetes allows */

struct route {
    const struct kube_kind *resource;
    const struct kube_older_version *older; /* the version of the path; NULL: the stored version */
    enum kube_verb verb;
    const char *namespace_; /* "" for a cluster-wide resource, or for all namespaces */
    const char *name;       /* NULL: the collection */
    enum kube_subresource_id sub;
    const char *rest; /* the path after .../proxy, "" or "/a/b"; "" if the route is no proxy */
};

/* If the path is one of a proxy subresource, returns what follows ".../proxy": a path of another
 * server, which may be anything. Else returns NULL. */
const char *route_proxy_rest(const char *path);

/* Returns -ERR_NOT_FOUND for a path that is not served, or -ERR_METHOD for a verb that the resource
 * does not have, with Kubernetes' messages. Strings of the result live in the arena. The resource
 * belongs to the registry; a caller that needs it longer must hold a reference. */
int route_parse(struct arena *arena, const struct registry *registry, const char *method,
                const char *path, const char *query, struct route *ret, struct err *err);

/* Whether the path has the form of a resource, served or not: "/api/v1/pods" has, "/apis/apps/v1"
 * has not. */
bool route_is_resource(const char *path);

#endif
