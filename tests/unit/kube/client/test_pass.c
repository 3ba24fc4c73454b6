/* Tests a pass over a workload, with calls that the test answers itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "fake_api.h"
#include "kube/client/pass.h"
#include "loop/sim/sim_loop.h"
#include "read_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 3 };

struct world {
    struct loop *loop;
    struct fake_api api;
    struct kube_client *client;
    struct kube_object *job;
    struct list_head list; /* of struct kube_pass */
    struct kube_pass pass;
    bool is_released;
    struct kube_own_writes writes;
    size_t calls[STAGES]; /* number of calls per stage */
    int jump_from, jump_to;
    /* "stage.call " for each call that starts, "<stage " for each stage that ends, "end" */
    char log[256];
};

__attribute__((format(printf, 2, 3))) static void note(struct world *world, const char *format, ...)
{
    size_t used = strlen(world->log);
    va_list args;
    va_start(args, format);
    vsnprintf(world->log + used, sizeof(world->log) - used, format, args);
    va_end(args);
}

static bool start_next(struct kube_pass *pass)
{
    struct world *world = CONTAINER_OF(pass, struct world, pass);
    if (pass->position == world->calls[pass->stage])
        return false;
    note(world, "%d.%d ", pass->stage, (int)pass->position++);
    return true;
}

static int after(struct kube_pass *pass)
{
    struct world *world = CONTAINER_OF(pass, struct world, pass);
    note(world, "<%d ", pass->stage);
    return pass->stage == world->jump_from ? world->jump_to : pass->stage + 1;
}

static const struct kube_pass_stages FULL = {STAGES, start_next, after},
                                     PLAIN = {STAGES, start_next, NULL};

static void release(struct world *world)
{
    kube_pass_release(&world->pass);
    world->is_released = true;
}

static void on_done(void *context, struct kube_pass *pass)
{
    struct world *world = context;
    assert_ptr_equal(pass, &world->pass);
    note(world, "%s", pass->failed ? "failed" : "end");
    release(world);
}

static struct kube_object *make_object(const char *text)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return kube_object_new(read_json(arena, text));
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(1, 1000000000000);
    fake_api_init(&world->api, world->loop);
    world->client = kube_client_new(world->loop, world->api.transport, "tester");
    world->job = make_object("{'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'j', "
                             "'namespace': 'n', 'uid': 'u', 'resourceVersion': '7'}}");
    kube_own_writes_init(&world->writes);
    world->jump_from = -1;
    kube_pass_init(&world->pass, &world->list, world->job);
    world->pass.stages = &FULL;
    world->pass.loop = world->loop;
    world->pass.client = world->client;
    world->pass.component = "tester";
    world->pass.calls_max = 2;
    world->pass.done = on_done;
    world->pass.context = world;
    world->pass.writes = &world->writes;
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    kube_client_free(world->client);
    if (!world->is_released)
        release(world);
    assert_true(list_is_empty(&world->list));
    assert_int_equal(world->job->references, 1);
    kube_object_unref(world->job);
    kube_own_writes_release(&world->writes);
    fake_api_release(&world->api);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void ends_in_a_later_turn_of_the_loop(void **state)
{
    struct world *world = *state;
    kube_pass_start(&world->pass);
    assert_string_equal(world->log, "<0 <1 <2 "); /* the end does not come from within the start */
    loop_run(world->loop);
    assert_string_equal(world->log, "<0 <1 <2 end");
}

static void limits_the_calls_in_flight(void **state)
{
    struct world *world = *state;
    world->calls[0] = 3;
    world->calls[2] = 1;
    kube_pass_start(&world->pass);
    assert_string_equal(world->log, "0.0 0.1 ");
    kube_pass_answered(&world->pass);
    assert_string_equal(world->log, "0.0 0.1 0.2 ");
    /* A stage waits for every call of the stage before. */
    kube_pass_answered(&world->pass);
    assert_string_equal(world->log, "0.0 0.1 0.2 ");
    kube_pass_answered(&world->pass);
    assert_string_equal(world->log, "0.0 0.1 0.2 <0 <1 2.0 ");
    loop_run(world->loop);
    kube_pass_answered(&world->pass);
    loop_run(world->loop);
    assert_string_equal(world->log, "0.0 0.1 0.2 <0 <1 2.0 <2 end");
}

static void a_probing_pass_starts_with_one_call(void **state)
{
    struct world *world = *state;
    world->calls[0] = 4;
    world->pass.probes = true;
    kube_pass_start(&world->pass);
    assert_string_equal(world->log, "0.0 ");
    kube_pass_answered(&world->pass);
    assert_string_equal(world->log, "0.0 0.1 0.2 ");
}

static void a_stage_decides_what_follows_a_failed_call(void **state)
{
    struct world *world = *state;
    world->calls[0] = world->calls[1] = world->calls[2] = 1;
    world->jump_to = 2;
    world->jump_from = 0;
    kube_pass_start(&world->pass);
    world->pass.failed = true;
    kube_pass_answered(&world->pass);
    assert_string_equal(world->log, "0.0 <0 2.0 ");
    kube_pass_answered(&world->pass);
    loop_run(world->loop);
    assert_string_equal(world->log, "0.0 <0 2.0 <2 failed");
}

static void stages_run_in_order_by_default(void **state)
{
    struct world *world = *state;
    world->calls[0] = world->calls[1] = 1;
    world->pass.stages = &PLAIN;
    kube_pass_start(&world->pass);
    kube_pass_answered(&world->pass);
    kube_pass_answered(&world->pass);
    loop_run(world->loop);
    assert_string_equal(world->log, "0.0 1.0 end");
}

static void expect_abort(struct world *world, enum err_code code, const char *log)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, code, "no");
    world->calls[0] = 3;
    world->calls[1] = 1;
    kube_pass_start(&world->pass);
    kube_pass_abort(&world->pass, &err);
    kube_pass_answered(&world->pass);
    loop_run(world->loop);
    assert_string_equal(world->log, "0.0 0.1 "); /* one answer is still missing */
    kube_pass_answered(&world->pass);
    loop_run(world->loop);
    assert_string_equal(world->log, log);
}

static void aborts_if_the_server_is_unavailable(void **state)
{
    struct world *world = *state;
    expect_abort(world, ERR_UNAVAILABLE, "0.0 0.1 failed");
}

static void aborts_after_a_conflict(void **state)
{
    expect_abort(*state, ERR_CONFLICT, "0.0 0.1 failed");
}

static void ends_if_the_object_is_deleted(void **state)
{
    expect_abort(*state, ERR_NOT_FOUND, "0.0 0.1 end");
}

static void waits_until_its_own_write_is_visible(void **state)
{
    struct world *world = *state;
    struct kube_object *newer =
        make_object("{'kind': 'Job', 'metadata': {'name': 'j', 'resourceVersion': '9'}}");
    kube_pass_add_write(&world->pass, newer->json);
    assert_true(kube_own_writes_wait_ms(&world->writes, world->job->json, 0) > 0);
    assert_int_equal(kube_own_writes_wait_ms(&world->writes, newer->json, 0), 0);
    kube_object_unref(newer);
}

static void keeps_references_until_it_is_released(void **state)
{
    struct world *world = *state;
    struct kube_object *pods[] = {make_object("{'metadata': {'name': 'a'}}"),
                                  make_object("{'metadata': {'name': 'b'}}")};
    const struct json **trees = kube_pass_hold_all(&world->pass, pods, 2);
    assert_ptr_equal(trees[1], pods[1]->json);
    assert_int_equal(pods[0]->references, 2);
    kube_pass_start(&world->pass);
    kube_client_free(world->client);
    world->client = NULL;
    release(world); /* released before the end, which then never comes */
    loop_run(world->loop);
    assert_string_equal(world->log, "<0 <1 <2 ");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pods[i]->references, 1);
        kube_object_unref(pods[i]);
    }
}

static void references_a_map_sorted_by_name(void **state)
{
    struct world *world = *state;
    struct kube_object *b = make_object("{'metadata': {'name': 'b'}}"),
                       *a = make_object("{'metadata': {'name': 'a'}}"),
                       *c = make_object("{'metadata': {'name': 'c'}}");
    struct kube_object *objects[] = {b, a, c};
    struct map map;
    size_t count = 9;
    map_init(&map);
    (void)kube_pass_hold_map(&world->pass, &map, &count);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < 3; i++)
        map_put(&map, objects[i]->name, objects[i]);
    const struct json **trees = kube_pass_hold_map(&world->pass, &map, &count);
    assert_int_equal(count, 3);
    assert_ptr_equal(trees[0], a->json);
    assert_ptr_equal(trees[1], b->json);
    assert_ptr_equal(trees[2], c->json);
    assert_int_equal(a->references, 2);
    map_release(&map);
    for (size_t i = 0; i < 3; i++)
        kube_object_unref(objects[i]); /* the pass has its own references */
    assert_int_equal(a->references, 1);
}

static void every_pass_is_in_the_list_of_its_owner(void **state)
{
    struct world *world = *state;
    struct kube_pass others[2];
    for (size_t i = 0; i < 2; i++) {
        kube_pass_init(&others[i], &world->list, world->job);
        others[i].loop = world->loop;
    }
    assert_ptr_equal(LIST_FIRST(&world->list, struct kube_pass, link), &others[1]);
    kube_pass_release(&others[0]); /* in the middle of the list */
    assert_ptr_equal(others[1].link.next, &world->pass.link);
    kube_pass_release(&others[1]);
    assert_ptr_equal(LIST_FIRST(&world->list, struct kube_pass, link), &world->pass);
}

static void records_events_of_the_workload(void **state)
{
    struct world *world = *state;
    kube_pass_event(&world->pass, true, "Late", "by %d s", 7);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST /api/v1/namespaces/n/events"), 1);
    assert_int_equal(fake_api_count(&world->api, "\"message\":\"by 7 s\""), 1);
    assert_int_equal(fake_api_count(&world->api, "\"type\":\"Warning\""), 1);
    assert_int_equal(fake_api_count(&world->api, "\"component\":\"tester\""), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_in_a_later_turn_of_the_loop),
        TEST(limits_the_calls_in_flight),
        TEST(a_probing_pass_starts_with_one_call),
        TEST(aborts_if_the_server_is_unavailable),
        TEST(a_stage_decides_what_follows_a_failed_call),
        TEST(stages_run_in_order_by_default),
        TEST(aborts_after_a_conflict),
        TEST(ends_if_the_object_is_deleted),
        TEST(waits_until_its_own_write_is_visible),
        TEST(keeps_references_until_it_is_released),
        TEST(references_a_map_sorted_by_name),
        TEST(every_pass_is_in_the_list_of_its_owner),
        TEST(records_events_of_the_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
