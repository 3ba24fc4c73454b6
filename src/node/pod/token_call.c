/* Requests the service account tokens for a pod's volumes (pod/tokens.h), one at a time, before the
 * pod is planned; see pod/runner_internal.h. */
#include "node/pod/runner_internal.h"
#include "node/pod/tokens.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

static void on_token(void *context, struct json *answer, const struct err *err)
{
    struct runner_call *call = context;
    struct pod_runner *runner = call->runner;
    char *audience = call->audience;
    free(call);
    if (runner) {
        const char *token = json_get_string(json_get(answer, "status"), "token", "");
        struct err failure = ERR_INIT;
        runner->token_call = NULL;
        if (err) {
            const struct plan_refusal refusal = {.reason = "FailedMount"};
            err_set(&failure, err->code, "cannot get a token of the service account: %s",
                    err->message);
            pod_runner_refuse(runner, &refusal, &failure);
        } else {
            free(map_put(&runner->tokens, audience, mem_strdup(token)));
        }
        pod_runner_work(runner);
    }
    free(audience);
}

bool pod_runner_has_tokens(struct pod_runner *runner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *missing = pod_tokens_missing(runner_pod(runner), &runner->tokens);
    if (!missing || runner->token_call)
        return !missing;
    struct kube_resource resource;
    const struct json *request = pod_token_request(arena, runner_pod(runner), missing, &resource);
    runner->token_call = mem_zalloc(sizeof(*runner->token_call));
    runner->token_call->runner = runner;
    runner->token_call->audience = mem_strdup(missing);
    kube_create(runner->host->client, &resource, runner->object->namespace_, request, on_token,
                runner->token_call);
    return false;
}
