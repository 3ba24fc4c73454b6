/* Finds the tokens that volumes need, and builds requests for them; see pod/tokens.h. */
#include "node/pod/tokens.h"

#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

enum { LIFE_S = 365 * 24 * 60 * 60 };

const char *pod_tokens_missing(const struct json *pod, const struct map *tokens)
{
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        JSON_EACH (source, json_at(volume, "projected", "sources", NULL)) {
            const struct json *token = json_get(source, "serviceAccountToken");
            const char *audience = json_get_string(token, "audience", "");
            if (token && !map_get(tokens, audience))
                return audience;
        }
    }
    return NULL;
}

struct json *pod_token_request(struct arena *arena, const struct json *pod, const char *audience,
                               struct kube_resource *ret_resource)
{
    const char *account = json_get_string(json_get(pod, "spec"), "serviceAccountName", "default");
    /* The client has no call for this subresource, so it is addressed as a collection below the
     * account. */
    *ret_resource = (struct kube_resource){
        .group = "",
        .version = "v1",
        .plural = arena_printf(arena, "serviceaccounts/%s/token", account),
        .kind = "TokenRequest",
        .namespaced = true,
    };
    struct json *request = json_object(arena);
    json_set_string(arena, request, "apiVersion", "authentication.k8s.io/v1");
    json_set_string(arena, request, "kind", "TokenRequest");
    struct json *spec = json_ensure_object(arena, request, "spec");
    json_set_int(arena, spec, "expirationSeconds", LIFE_S);
    if (audience[0])
        json_append(json_ensure_array(arena, spec, "audiences"), json_string(arena, audience));
    struct json *bound = json_ensure_object(arena, spec, "boundObjectRef");
    json_set_string(arena, bound, "apiVersion", "v1");
    json_set_string(arena, bound, "kind", "Pod");
    json_set_string(arena, bound, "name", kube_meta_name(pod));
    json_set_string(arena, bound, "uid", kube_meta_uid(pod));
    return request;
}

void pod_tokens_release(struct map *tokens)
{
    const char *audience;
    void *token;
    for (size_t i = 0; map_next(tokens, &i, &audience, &token);)
        free(token);
    map_release(tokens);
}
