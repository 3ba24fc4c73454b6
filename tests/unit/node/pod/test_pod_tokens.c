/* Tests which tokens a pod waits for, and how they are requested. */
#include "node_test.h"

#include "node/pod/tokens.h"

static void pod_waits_for_a_token_per_audience(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct map tokens = {0};
    const struct json *pod = read_json(
        arena, "{'metadata':{'name':'p','namespace':'n','uid':'u'},'spec':{'serviceAccountName':"
               "'builder','volumes':[{'name':'c','configMap':{'name':'x'}},{'name':'a','projected':"
               "{'sources':[{'configMap':{'name':'x'}},{'serviceAccountToken':{'path':'t'}}]}},"
               "{'name':'b','projected':{'sources':[{'serviceAccountToken':{'path':'v','audience':"
               "'vault'}},{'serviceAccountToken':{'path':'w'}}]}}]}}");
    assert_string_equal(pod_tokens_missing(pod, &tokens), "");
    map_put(&tokens, "", (char[]){"one"});
    assert_string_equal(pod_tokens_missing(pod, &tokens), "vault");
    map_put(&tokens, "vault", (char[]){"two"});
    assert_null(pod_tokens_missing(pod, &tokens));
    map_release(&tokens);

    struct kube_resource resource;
    const struct json *request = pod_token_request(arena, pod, "vault", &resource);
    assert_string_equal(kube_resource_path(arena, &resource, "n", NULL, NULL),
                        "/api/v1/namespaces/n/serviceaccounts/builder/token");
    assert_string_equal(json_to_string(arena, json_get(request, "spec")),
                        "{\"expirationSeconds\":31536000,\"audiences\":[\"vault\"],"
                        "\"boundObjectRef\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":"
                        "\"p\",\"uid\":\"u\"}}");
}

static void pod_without_token_volumes_waits_for_none(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct map tokens = {0};
    assert_null(pod_tokens_missing(
        read_json(arena, "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}"), &tokens));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pod_waits_for_a_token_per_audience),
        cmocka_unit_test(pod_without_token_volumes_waits_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
