/* Tests which volume's data is deleted with it. The informers use an API that the test plays. */
#include "node_test.h"

#include "base/system/file.h"
#include "loop/sim/sim_loop.h"
#include "net/http/http.h"
#include "node/volume/claim_data.h"

#include <stdlib.h>

static const char *claims_text, *pods_text;

static void ignore_cancel(struct http_exchange *exchange)
{
}

/* Lists the objects that the test has set. Watches stay silent. */
static void answer_request(struct http_exchange *exchange, void *context)
{
    const char *body = strstr(exchange->request->path, "pods") ? pods_text : claims_text;
    if (strstr(exchange->request->query, "watch=")) {
        exchange->on_cancel = ignore_cancel;
        http_begin(exchange, 200, "application/json", NULL, -1);
        return;
    }
    const char *text = quoted(exchange->arena, body);
    http_respond(exchange, 200, "application/json", text, strlen(text));
}

static void ignore(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static bool is_unwanted(const char *volume, const char *claims, const char *pods)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    claims_text = arena_printf(arena, "{'metadata':{'resourceVersion':'1'},'items':[%s]}", claims);
    pods_text = arena_printf(arena, "{'metadata':{'resourceVersion':'1'},'items':[%s]}", pods);
    struct loop *loop = sim_loop_new(1, 0);
    struct http_transport *transport = http_local_new(loop, answer_request, NULL, "token");
    struct kube_client *client = kube_client_new(loop, transport, "test");
    struct kube_informer *claim_informer =
        kube_informer_new(client, &KUBE_PVCS, NULL, NULL, ignore, NULL);
    struct kube_informer *pod_informer =
        kube_informer_new(client, &KUBE_PODS, NULL, NULL, ignore, NULL);
    sim_loop_run_for(loop, 1000);
    assert_true(kube_informer_synced(claim_informer) && kube_informer_synced(pod_informer));
    bool result = claim_data_is_unwanted(read_json(arena, volume), claim_informer, pod_informer);
    kube_informer_free(claim_informer);
    kube_informer_free(pod_informer);
    kube_client_free(client);
    http_transport_free(transport);
    loop_free(loop);
    return result;
}

#define VOLUME(policy, place)                                                                      \
    "{'metadata':{'name':'v','annotations':{'trainyard.dev/volume':'" place                        \
    "'}},'spec':{'persistentVolumeReclaimPolicy':'" policy "'}}"
#define CLAIM "{'metadata':{'name':'c','namespace':'n','uid':'1'}}"
#define POD(phase)                                                                                 \
    "{'metadata':{'name':'p','namespace':'n','uid':'2'},'spec':{'volumes':[{'name':'d',"           \
    "'persistentVolumeClaim':{'claimName':'c'}}]},'status':{'phase':'" phase "'}}"

static void unused_data_is_found(void **state)
{
    assert_true(is_unwanted(VOLUME("Delete", "n/c"), "", ""));
    assert_false(is_unwanted(VOLUME("Retain", "n/c"), "", ""));
    assert_false(is_unwanted(VOLUME("Delete", "n/c"), CLAIM, "")); /* the claim was created again */
    assert_false(is_unwanted(VOLUME("Delete", "n/c"), "", POD("Running")));
    assert_true(is_unwanted(VOLUME("Delete", "n/c"), "", POD("Succeeded")));
    assert_false(is_unwanted(VOLUME("Delete", "../.."), "", ""));
    assert_false(is_unwanted(VOLUME("Delete", "n/../x"), "", ""));
    assert_false(is_unwanted("{'metadata':{'name':'by-hand'}}", "", ""));
}

static void data_is_deleted(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char root[] = "/tmp/trainyard-claim.XXXXXX";
    assert_non_null(mkdtemp(root));
    char *data = arena_printf(arena, "%s/volumes/n/c", root);
    assert_int_equal(file_make_dirs(arena_printf(arena, "%s/deep", data), 0755, NULL), 0);
    struct loop *loop = sim_loop_new(1, 0);
    struct trash *trash = trash_new(loop, root);
    claim_data_delete(trash, root, read_json(arena, VOLUME("Delete", "n/c")));
    /* Removed at once, so that a new claim of this name starts empty. */
    assert_false(file_exists(data));
    const char *aside = arena_printf(arena, "%s/volumes/.deleted/v", root);
    assert_true(file_exists(aside));
    sim_loop_run_for(loop, 1000);
    assert_false(file_exists(aside));
    assert_true(file_exists(arena_printf(arena, "%s/volumes/n", root)));
    /* There is no data. */
    claim_data_delete(trash, root, read_json(arena, VOLUME("Delete", "n/c")));
    trash_free(trash);
    loop_free(loop);
    file_remove_tree(root, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unused_data_is_found),
                                       cmocka_unit_test(data_is_deleted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
