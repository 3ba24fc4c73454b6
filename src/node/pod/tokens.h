/* Finds the service account tokens that a pod's volumes need, one per audience, and builds the
 * requests for them. Each token is bound to the pod: it is valid for a year, but not longer than
 * the pod exists. Pure: the runner sends the requests (pod/token_call.c), before it plans the
 * pod. */
#ifndef TRAINYARD_NODE_POD_TOKENS_H
#define TRAINYARD_NODE_POD_TOKENS_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/resource.h"

/* Returns the first audience for which `tokens` has no token, or NULL if none is missing. `tokens`
 * maps audiences to tokens; the audience "" is the API itself. */
const char *pod_tokens_missing(const struct json *pod, const struct map *tokens);

/* Returns the TokenRequest for an audience. Sets `*ret_resource` to the resource in the pod's
 * namespace in which it must be created. */
struct json *pod_token_request(struct arena *arena, const struct json *pod, const char *audience,
                               struct kube_resource *ret_resource);

void pod_tokens_release(struct map *tokens); /* frees the tokens and releases the map */

#endif
