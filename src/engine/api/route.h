/* Parses the method and the path of a request into a verb and a resource. Pure and fuzzed, because
 * paths come from clients. */
#ifndef TRAINYARD_ENGINE_API_ROUTE_H
#define TRAINYARD_ENGINE_API_ROUTE_H

#include "base/arena.h"
#include "base/err.h"
#include "engine/kinds/registry.h"

enum { ROUTE_SEGMENT_MAX = 253 }; /* the longest name that Kubernetes allows */

struct route {
    const struct kube_kind *resource;
    /* The older version that the path names. NULL: the path names the version of `resource`. */
    const struct kube_older_version *older;
    enum kube_verb verb;
    const char *namespace_; /* "" for a cluster-wide resource, or for all namespaces */
    const char *name;       /* NULL: the request is for the collection */
    enum kube_subresource_id sub;
    /* The path after ".../proxy", for example "/a/b"; "" if the path is not a proxy path. */
    const char *rest;
};

/* Returns the text after ".../proxy" if the path names a proxy subresource, otherwise NULL. The
 * text is a path of another server and may have any form. */
const char *route_proxy_rest(const char *path);

/* Returns -ERR_NOT_FOUND for a path that is not served, or -ERR_METHOD for a verb that the
 * resource does not have, with Kubernetes' messages. Returns -ERR_UNSUPPORTED for a subresource
 * of Kubernetes that this server lacks. The strings of the result are in the arena. The registry
 * owns the resource. A caller that needs the resource after this turn of the loop must take a
 * reference. */
int route_parse(struct arena *arena, const struct registry *registry, const char *method,
                const char *path, const char *query, struct route *ret, struct err *err);

/* Whether the path has the form of a resource path, even if no such resource is served. True for
 * "/api/v1/pods", false for "/apis/apps/v1". */
bool route_is_resource(const char *path);

#endif
