/* The service account tokens that a pod's volumes ask for, one for each audience. They come from
 * the API, as a question and an answer, and are there before the pod is planned; pure, the runner
 * asks. Each is for a year and bound to the pod: it ends with it. */
#ifndef TRAINYARD_NODE_POD_TOKENS_H
#define TRAINYARD_NODE_POD_TOKENS_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/resource.h"

/* The first audience that is asked for and that `tokens` (audience to token) has none for; "" is
 * the API itself, NULL: nothing is missing. */
const char *pod_tokens_missing(const struct json *pod, const struct map *tokens);

/* What is sent for it, and to which resource of the pod's namespace. */
struct json *pod_token_request(struct arena *arena, const struct json *pod, const char *audience,
                               struct kube_resource *ret_resource);

void pod_tokens_release(struct map *tokens); /* frees the tokens, too */

#endif
