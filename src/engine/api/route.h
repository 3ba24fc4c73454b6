/* Parses the method, the path and the query of a request into a verb and a resource. engine.c calls
 * route_parse() before a request is authorized. Pure and fuzzed, because paths come from clients.
 */
#ifndef TRAINYARD_ENGINE_API_ROUTE_H
#define TRAINYARD_ENGINE_API_ROUTE_H

#include "base/arena.h"
#include "base/err.h"
#include "engine/kinds/registry.h"

enum { ROUTE_SEGMENT_MAX = 253 }; /* the longest name that Kubernetes allows */

/* The target of a request and the verb. */
struct route {
    const struct kube_kind *resource;
    /* The older version that the path names. NULL: the path names the version of `resource`. */
    const struct kube_older_version *older;
    enum kube_verb verb;
    const char *namespace_;       /* "" for a cluster-wide resource, or for all namespaces */
    const char *name;             /* NULL: the request is for the collection */
    enum kube_subresource_id sub; /* SUB_NONE: the request is for the object or collection itself */
    /* The path after ".../proxy", for example "/a/b"; "" if the path is not a proxy path. */
    const char *rest;
};

/* Returns the part of `path` after ".../proxy" if the path names a proxy subresource, otherwise
 * NULL. This part is a path of the server behind the proxy and may have any form. */
const char *route_proxy_rest(const char *path);

/* Sets *ret to the route of the request. The strings of *ret are in the arena. The registry owns
 * ret->resource. A caller that needs the resource after this turn of the loop must take a
 * reference. Returns -ERR_NOT_FOUND for a path that is not served, or -ERR_METHOD for a verb that
 * the resource does not have, with Kubernetes' messages. Returns -ERR_UNSUPPORTED for the
 * subresource "ephemeralcontainers", which this server lacks. */
int route_parse(struct arena *arena, const struct registry *registry, const char *method,
                const char *path, const char *query, struct route *ret, struct err *err);

/* Returns whether the path has the form of a resource path, even if no such resource is served:
 * true for "/api/v1/pods", false for "/apis/apps/v1". */
bool route_is_resource(const char *path);

#endif
