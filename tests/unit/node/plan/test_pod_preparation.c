/* Tests that the pool prepares a pod from copies, with the objects that its plan asks for. The
 * preparation runs to its end even if it was canceled. */
#include "node_test.h"

#include "kube/client/informer.h"
#include "loop/loop.h"
#include "loop/sim/sim_loop.h"
#include "node/limits/cgroup_base.h"
#include "node/plan/preparation.h"
#include "scratch_directory.h"

static struct kube_object *config; /* the ConfigMap that exists, or NULL */
static struct kube_object *later;  /* replaces `config` when a plan has read it; may be NULL */

static struct kube_object *find_object(void *context, const struct kube_resource *resource,
                                       const char *namespace_, const char *name)
{
    struct kube_object *found = config;
    if (resource != &KUBE_CONFIGMAPS || !config || !str_eq(config->name, name))
        return NULL;
    if (later)
        config = later;
    return found;
}

static struct kube_object *next_service(void *context, const char *namespace_, size_t *position)
{
    return NULL;
}

struct outcome {
    bool is_done, is_stale;
    struct err err;
    const char *reason;
};

static void on_done(void *context, struct plan_prepared *prepared)
{
    struct outcome *outcome = context;
    outcome->is_done = true;
    outcome->is_stale = prepared->is_stale;
    outcome->err = prepared->err;
    outcome->reason = prepared->refusal.reason;
}

static struct kube_object *parse_object(const char *text)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return kube_object_new(read_json(arena, text));
}

static struct kube_object *make_pod(int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return parse_object(
        arena_printf(arena,
                     "{'metadata':{'name':'p','namespace':'default','uid':'u%d'},'spec':{"
                     "'volumes':[{'name':'v','configMap':{'name':'c'}}],"
                     "'containers':[{'name':'main','image':'i','command':['true'],"
                     "'volumeMounts':[{'name':'v','mountPath':'/v'}]}]}}",
                     number));
}

/* The host's memory is freed as soon as the preparation has begun. */
static struct plan_preparation *start_preparation(struct loop *loop, int number,
                                                  struct outcome *outcome)
{
    static struct cgroup_base groups = {.earlier = ""};
    static struct pod_host host;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct map tokens = {0};
    struct kube_object *pod = make_pod(number);
    host = (struct pod_host){
        .loop = loop,
        .groups = &groups,
        .state_dir = directory,
        .handout_dir = directory,
        .network = "/run/holder",
        .step_path = "/opt/step",
        .resolv_conf = "",
        .source = {find_object, next_service, NULL},
    };
    const struct plan_preparation_request order = {
        .pod = pod,
        .directory = arena_printf(arena, "%s/pods/u%d", directory, number),
        .address = "10.244.1.2",
        .node_address = "127.0.0.1",
        .tokens = &tokens,
    };
    *outcome = (struct outcome){0};
    struct plan_preparation *preparation = plan_preparation_start(&host, &order, on_done, outcome);
    kube_object_unref(pod);
    return preparation;
}

static bool pod_file_exists(const char *name)
{
    _cleanup_free_ char *path = mem_printf("%s/pods/u1/%s", directory, name);
    return file_exists(path);
}

static void plan_gets_the_objects_that_it_requests(void **state)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct outcome outcome;
    config = parse_object("{'metadata':{'name':'c','namespace':'default'},'data':{'a':'x'}}");
    start_preparation(loop, 1, &outcome);
    assert_false(pod_file_exists("spec")); /* nothing is written on the loop */
    sim_loop_run_for(loop, 1000);
    assert_true(outcome.is_done);
    assert_string_equal(outcome.err.message, "");
    assert_false(outcome.is_stale);
    assert_true(pod_file_exists("spec"));
    assert_true(pod_file_exists("cgroups"));
    assert_true(pod_file_exists("volumes/v/a"));
    kube_object_unref(config);
    config = NULL;
    loop_free(loop);
}

static void object_change_marks_the_plan_stale(void **state)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct outcome outcome;
    struct kube_object *first = config =
        parse_object("{'metadata':{'name':'c','namespace':'default'},'data':{'a':'x'}}");
    later = parse_object("{'metadata':{'name':'c','namespace':'default'},'data':{'a':'y'}}");
    start_preparation(loop, 1, &outcome);
    sim_loop_run_for(loop, 1000);
    assert_true(outcome.is_done);
    assert_string_equal(outcome.err.message, "");
    assert_true(outcome.is_stale);
    kube_object_unref(first);
    kube_object_unref(later);
    config = later = NULL;
    loop_free(loop);
}

static void missing_object_is_reported(void **state)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct outcome outcome;
    start_preparation(loop, 1, &outcome);
    sim_loop_run_for(loop, 1000);
    assert_true(outcome.is_done);
    assert_int_equal(outcome.err.code, ERR_NOT_FOUND);
    assert_string_equal(outcome.reason, "FailedMount");
    assert_non_null(strstr(outcome.err.message, "configmap \"c\" not found"));
    loop_free(loop);
}

static void abandoned_preparation_is_not_reported(void **state)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct outcome outcome;
    plan_preparation_abandon(start_preparation(loop, 1, &outcome));
    plan_preparation_abandon(NULL);
    sim_loop_run_for(loop, 1000);
    assert_false(outcome.is_done);
    loop_free(loop);
}

/* On threads, as in a server: many at once, some of which are canceled. */
static void many_pods_are_prepared_concurrently(void **state)
{
    enum { PODS = 40 };
    struct loop *loop;
    struct outcome outcomes[PODS];
    assert_int_equal(loop_new(&loop, NULL), 0);
    config = parse_object("{'metadata':{'name':'c','namespace':'default'},'data':{'a':'x'}}");
    for (int i = 0; i < PODS; i++) {
        struct plan_preparation *preparation = start_preparation(loop, 100 + i, &outcomes[i]);
        if (i % 4 == 0)
            plan_preparation_abandon(preparation);
    }
    loop_run(loop); /* until nothing is left to do */
    for (int i = 0; i < PODS; i++) {
        assert_int_equal(outcomes[i].is_done, i % 4 != 0);
        assert_string_equal(outcomes[i].err.message, "");
    }
    kube_object_unref(config);
    config = NULL;
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_gets_the_objects_that_it_requests),
        cmocka_unit_test(object_change_marks_the_plan_stale),
        cmocka_unit_test(missing_object_is_reported),
        cmocka_unit_test(abandoned_preparation_is_not_reported),
        cmocka_unit_test(many_pods_are_prepared_concurrently),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
