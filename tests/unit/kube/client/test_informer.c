/* Tests the informer against a fake API with faults, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "fake_api.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <stdlib.h>

struct world {
    struct loop *loop;
    struct fake_api api;
    struct kube_client *client;
    struct kube_informer *informer;
    char log[8192];
    bool free_on_change;
};

static void on_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct world *world = context;
    size_t used = strlen(world->log);
    snprintf(world->log + used, sizeof(world->log) - used, "%s%s%s; ",
             old && new_ ? "~"
             : new_      ? "+"
                         : "-",
             (new_ ? new_ : old)->name, new_ ? kube_meta_label(new_->json, "v") : "");
    if (new_)
        assert_string_equal(json_get_string(new_->json, "kind", ""), "Pod");
    if (world->free_on_change)
        world->informer = kube_informer_free(world->informer);
}

static void begin(struct world *world, uint64_t seed)
{
    world->loop = sim_loop_new(seed, 0);
    fake_api_init(&world->api, world->loop);
    world->client = kube_client_new(world->loop, world->api.transport, "tester");
}

static void start(struct world *world)
{
    world->informer =
        kube_informer_new(world->client, &KUBE_PODS, "default", "v", on_change, world);
}

static void finish(struct world *world)
{
    kube_informer_free(world->informer);
    kube_client_free(world->client);
    fake_api_release(&world->api);
    loop_free(world->loop);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    begin(world, 1);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    finish(*state);
    free(*state);
    return 0;
}

static void take_log(struct world *world, const char *expected)
{
    assert_string_equal(world->log, expected);
    *world->log = '\0';
}

static void lists_then_watches(void **state)
{
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1");
    fake_api_put(&world->api, "b", "1");
    start(world);
    assert_false(kube_informer_synced(world->informer));
    sim_loop_run_for(world->loop, 10);
    assert_true(kube_informer_synced(world->informer));
    take_log(world, "+a1; +b1; ");
    fake_api_put(&world->api, "c", "1");
    fake_api_put(&world->api, "a", "2");
    fake_api_delete(&world->api, "b");
    sim_loop_run_for(world->loop, 10);
    take_log(world, "+c1; ~a2; -b; ");
    assert_int_equal(fake_api_count(&world->api, "watch=true"), 1);
    assert_int_equal(fake_api_count(&world->api, "labelSelector=v"), 2);

    struct kube_object *object = kube_informer_get(world->informer, "default", "a");
    assert_non_null(object);
    assert_string_equal(object->uid, "uid-a");
    assert_null(kube_informer_get(world->informer, "default", "b"));
    assert_ptr_equal(kube_informer_find(world->informer, "default/a"), object);
    assert_null(kube_informer_find(world->informer, "default/b"));
    assert_null(kube_informer_get(world->informer, "other", "a"));
    size_t position = 0, count = 0;
    while (kube_informer_next(world->informer, NULL, &position))
        count++;
    assert_int_equal(count, 2);
    position = 0;
    assert_null(kube_informer_next(world->informer, "other", &position));

    /* A reference outlives the object's place in the cache. */
    kube_object_ref(object);
    fake_api_delete(&world->api, "a");
    sim_loop_run_for(world->loop, 10);
    assert_null(kube_informer_get(world->informer, "default", "a"));
    assert_string_equal(kube_meta_label(object->json, "v"), "2");
    kube_object_unref(object);
}

static void lists_page_by_page(void **state)
{
    struct world *world = *state;
    world->api.page_max = 2;
    for (int i = 0; i < 5; i++)
        fake_api_put(&world->api, (char[]){(char)('a' + i), '\0'}, "1");
    start(world);
    sim_loop_run_for(world->loop, 10);
    assert_true(kube_informer_synced(world->informer));
    take_log(world, "+a1; +b1; +c1; +d1; +e1; ");
    assert_int_equal(fake_api_count(&world->api, "limit="), 3);
    assert_int_equal(fake_api_count(&world->api, "continue=4"), 1);

    /* A new list finds which objects are gone, on whichever page they were. */
    fake_api_delete_unseen(&world->api, "d");
    fake_api_delete_unseen(&world->api, "a");
    world->api.oldest_revision = world->api.revision;
    fake_api_cut_watches(&world->api, false);
    sim_loop_run_for(world->loop, 60 * 1000);
    take_log(world, "-d; -a; ");
}

/* The continue token is too old: the informer lists again from the start, and reports no object
 * twice. */
static void lists_again_if_a_continue_token_expired(void **state)
{
    struct world *world = *state;
    world->api.page_max = 2;
    for (int i = 0; i < 3; i++)
        fake_api_put(&world->api, (char[]){(char)('a' + i), '\0'}, "1");
    start(world);
    while (fake_api_count(&world->api, "limit=") < 1)
        sim_loop_run_for(world->loop, 1);
    world->api.fail_count = 1;
    world->api.fail_status = 410;
    sim_loop_run_for(world->loop, 60 * 1000);
    assert_true(kube_informer_synced(world->informer));
    take_log(world, "+a1; +b1; +c1; ");
}

/* A watch that is open but brings nothing, not even bookmarks, is replaced. */
static void replaces_a_silent_watch(void **state)
{
    struct world *world = *state;
    start(world);
    sim_loop_run_for(world->loop, 1000);
    for (int i = 0; i < 10; i++) {
        sim_loop_run_for(world->loop, 60 * 1000);
        fake_api_bookmark(&world->api);
    }
    size_t before = fake_api_count(&world->api, "watch=true");
    sim_loop_run_for(world->loop, 140 * 1000);
    assert_int_equal(fake_api_count(&world->api, "watch=true"), before);
    sim_loop_run_for(world->loop, 20 * 1000);
    assert_int_equal(fake_api_count(&world->api, "watch=true"), before + 1);
    fake_api_put(&world->api, "a", "1");
    sim_loop_run_for(world->loop, 10);
    take_log(world, "+a1; ");
}

static void resync_starts_a_new_watch(void **state)
{
    struct world *world = *state;
    start(world);
    sim_loop_run_for(world->loop, 2000);
    kube_informer_resync(world->informer);
    kube_informer_resync(world->informer); /* does nothing, since a resync was just done */
    sim_loop_run_for(world->loop, 10);
    assert_int_equal(fake_api_count(&world->api, "watch=true"), 2);
    fake_api_put(&world->api, "a", "1");
    sim_loop_run_for(world->loop, 10);
    take_log(world, "+a1; ");
}

static void keeps_only_the_selected_fields(void **state)
{
    static const char *const fields[] = {"kind", "status.phase", NULL};
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1");
    world->informer =
        kube_informer_new(world->client, &KUBE_PODS, "default", NULL, on_change, world);
    kube_informer_keep(world->informer, fields);
    sim_loop_run_for(world->loop, 10);
    struct kube_object *object = kube_informer_get(world->informer, "default", "a");
    assert_non_null(object);
    assert_string_equal(object->uid, "uid-a");
    assert_string_equal(kube_meta_resource_version(object->json), "101");
    assert_null(json_at(object->json, "metadata", "labels", NULL));
}

static void ignore_change(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static void drops_the_kind_if_it_is_not_selected(void **state)
{
    static const char *const fields[] = {"status.phase", NULL};
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1");
    world->informer =
        kube_informer_new(world->client, &KUBE_PODS, "default", NULL, ignore_change, NULL);
    kube_informer_keep(world->informer, fields);
    sim_loop_run_for(world->loop, 10);
    struct kube_object *object = kube_informer_get(world->informer, "default", "a");
    assert_non_null(object);
    assert_null(json_get(object->json, "kind"));
}

static void drops_managed_fields(void **state)
{
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1");
    start(world);
    sim_loop_run_for(world->loop, 10);
    struct kube_object *object = kube_informer_get(world->informer, "default", "a");
    assert_non_null(json_at(object->json, "metadata", "labels", NULL));
    assert_null(json_at(object->json, "metadata", "managedFields", NULL));
}

static void lists_and_watches_with_a_field_selector(void **state)
{
    struct world *world = *state;
    world->informer = kube_informer_new_of_fields(world->client, &KUBE_PODS, "default", NULL,
                                                  "spec.nodeName!=", on_change, world);
    sim_loop_run_for(world->loop, 10);
    assert_int_equal(fake_api_count(&world->api, "fieldSelector=spec.nodeName%21%3D"), 2);
    assert_int_equal(fake_api_count(&world->api, "watch=true"), 1);
}

static void resumes_after_a_lost_connection(void **state)
{
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1");
    start(world);
    sim_loop_run_for(world->loop, 2000);
    fake_api_put(&world->api, "b", "1");
    sim_loop_run_for(world->loop, 10);
    fake_api_cut_watches(&world->api, true);
    fake_api_put(&world->api, "c", "1");
    fake_api_delete(&world->api, "a");
    sim_loop_run_for(world->loop, 1000);
    take_log(world, "+a1; +b1; +c1; -a; ");
    /* The watch resumes from its last revision, without a new list. */
    assert_int_equal(fake_api_count(&world->api, "GET") - fake_api_count(&world->api, "watch=true"),
                     1);
    assert_int_equal(fake_api_count(&world->api, "resourceVersion=102"), 1);
}

static void resumes_from_a_bookmark(void **state)
{
    struct world *world = *state;
    start(world);
    sim_loop_run_for(world->loop, 10);
    world->api.revision = 500;
    fake_api_bookmark(&world->api);
    sim_loop_run_for(world->loop, 10);
    fake_api_cut_watches(&world->api, false);
    sim_loop_run_for(world->loop, 10);
    assert_int_equal(fake_api_count(&world->api, "resourceVersion=501"), 1);
}

static void lists_again_when_history_is_gone(void **state)
{
    for (int by_status = 0; by_status < 2; by_status++) {
        struct world world = {0};
        begin(&world, 3);
        world.api.refuse_old_by_status = by_status;
        fake_api_put(&world.api, "a", "1");
        fake_api_put(&world.api, "b", "1");
        fake_api_put(&world.api, "c", "1");
        start(&world);
        sim_loop_run_for(world.loop, 2000);
        take_log(&world, "+a1; +b1; +c1; ");
        fake_api_cut_watches(&world.api, false);
        fake_api_delete_unseen(&world.api, "b");
        fake_api_put(&world.api, "a", "2");
        world.api.history.count--; /* the informer must not see this event */
        free(world.api.history.items[world.api.history.count].line);
        fake_api_put(&world.api, "d", "1");
        world.api.oldest_revision = world.api.revision;
        sim_loop_run_for(world.loop, 5000);
        /* An unchanged object is not reported again. */
        take_log(&world, "~a2; +d1; -b; ");
        fake_api_put(&world.api, "e", "1");
        sim_loop_run_for(world.loop, 10);
        take_log(&world, "+e1; ");
        finish(&world);
    }
    (void)state;
}

static void reports_a_replaced_object_as_deleted_and_added(void **state)
{
    struct world *world = *state;
    start(world);
    sim_loop_run_for(world->loop, 10);
    fake_api_write_watches(&world->api,
                           "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\","
                           "\"namespace\":\"default\",\"uid\":\"1\",\"resourceVersion\":\"7\","
                           "\"labels\":{\"v\":\"1\"}}}}\n"
                           "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"x\","
                           "\"namespace\":\"default\",\"uid\":\"2\",\"resourceVersion\":\"9\","
                           "\"labels\":{\"v\":\"2\"}}}}\n");
    sim_loop_run_for(world->loop, 10);
    take_log(world, "+x1; -x; +x2; ");
}

static void retries_with_a_growing_delay(void **state)
{
    struct world *world = *state;
    world->api.fail_count = 1000000;
    world->api.fail_status = 500;
    start(world);
    sim_loop_run_for(world->loop, 10 * 1000);
    size_t early = world->api.requests.count;
    assert_in_range(early, 5, 12);
    sim_loop_run_for(world->loop, 600 * 1000);
    assert_in_range(world->api.requests.count - early, 20, 50);
    assert_false(kube_informer_synced(world->informer));
    fake_api_put(&world->api, "a", "1");
    world->api.fail_count = 0;
    sim_loop_run_for(world->loop, 31 * 1000);
    assert_true(kube_informer_synced(world->informer));
    take_log(world, "+a1; ");
}

/* If a server ends each watch at once, the informer must not ask without a delay. */
static void does_not_spin_on_short_watches(void **state)
{
    struct world *world = *state;
    start(world);
    for (int i = 0; i < 100; i++) {
        sim_loop_run_for(world->loop, 100);
        fake_api_cut_watches(&world->api, false);
    }
    assert_in_range(fake_api_count(&world->api, "watch=true"), 3, 15);
}

static void may_be_freed_at_any_time(void **state)
{
    struct world *world = *state;
    /* The informer is freed while a list is in flight. */
    world->api.delay_ms = 100;
    start(world);
    sim_loop_run_for(world->loop, 10);
    world->informer = kube_informer_free(world->informer);
    sim_loop_run_for(world->loop, 1000);
    /* The informer is freed while it waits. */
    world->api.fail_count = 1;
    world->api.fail_status = 503;
    start(world);
    sim_loop_run_for(world->loop, 120);
    world->informer = kube_informer_free(world->informer);
    sim_loop_run_for(world->loop, 1000);
    take_log(world, "");
    /* The informer is freed in its own callback, during a list and during a watch. */
    world->api.delay_ms = 0;
    world->free_on_change = true;
    fake_api_put(&world->api, "a", "1");
    fake_api_put(&world->api, "b", "1");
    start(world);
    sim_loop_run_for(world->loop, 1000);
    take_log(world, "+a1; ");
    fake_api_delete_unseen(&world->api, "a");
    fake_api_delete_unseen(&world->api, "b");
    start(world);
    sim_loop_run_for(world->loop, 10);
    fake_api_put(&world->api, "c", "1");
    fake_api_put(&world->api, "d", "1");
    sim_loop_run_for(world->loop, 1000);
    take_log(world, "+c1; ");
    assert_null(world->informer);
    assert_int_equal(world->api.watchers.count, 0);
}

/* Makes changes and faults from the loop's seed, and then no more faults. */
static void run_with_faults(struct world *world, uint64_t seed)
{
    begin(world, seed);
    struct rand *rand = sim_loop_rand(world->loop);
    struct fake_api *api = &world->api;
    start(world);
    for (int i = 0; i < 150; i++) {
        char name[2] = {(char)('a' + rand_below(rand, 8)), '\0'};
        switch (rand_below(rand, 8)) {
        case 0:
            fake_api_cut_watches(api, rand_below(rand, 2));
            break;
        case 1:
            api->fail_count = (int)rand_below(rand, 4);
            api->fail_status = rand_below(rand, 2) ? 500 : 503;
            break;
        case 2:
            api->oldest_revision = api->revision;
            fake_api_cut_watches(api, false);
            break;
        case 3:
            api->delay_ms = (int64_t)rand_below(rand, 300);
            break;
        case 4:
            if (map_get(&api->objects, name))
                fake_api_delete(api, name);
            break;
        default:
            fake_api_put(api, name, rand_below(rand, 2) ? "1" : "2");
        }
        sim_loop_run_for(world->loop, (int64_t)rand_below(rand, 500));
    }
    api->fail_count = 0;
    sim_loop_run_for(world->loop, 120 * 1000);
}

static void matches_the_server_after_all_faults(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct world world = {0};
        run_with_faults(&world, seed);
        size_t position = 0, count = 0;
        for (struct kube_object *object;
             (object = kube_informer_next(world.informer, "default", &position)); count++) {
            const char *text = map_get(&world.api.objects, object->name);
            assert_non_null(text);
            char version[64];
            snprintf(version, sizeof(version), "\"resourceVersion\":\"%s\"",
                     kube_meta_resource_version(object->json));
            assert_non_null(strstr(text, version));
        }
        assert_int_equal(count, world.api.objects.count);
        finish(&world);
    }
    (void)state;
}

static void gives_the_same_run_for_the_same_seed(void **state)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct world one = {0}, two = {0};
        run_with_faults(&one, seed);
        run_with_faults(&two, seed);
        assert_string_equal(one.log, two.log);
        assert_int_equal(one.api.requests.count, two.api.requests.count);
        for (size_t i = 0; i < one.api.requests.count; i++)
            assert_string_equal(one.api.requests.items[i], two.api.requests.items[i]);
        finish(&one);
        finish(&two);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(lists_then_watches),
        TEST(resumes_after_a_lost_connection),
        TEST(resumes_from_a_bookmark),
        TEST(lists_page_by_page),
        TEST(lists_again_if_a_continue_token_expired),
        TEST(replaces_a_silent_watch),
        TEST(resync_starts_a_new_watch),
        TEST(keeps_only_the_selected_fields),
        TEST(drops_the_kind_if_it_is_not_selected),
        TEST(drops_managed_fields),
        TEST(lists_and_watches_with_a_field_selector),
        cmocka_unit_test(lists_again_when_history_is_gone),
        TEST(reports_a_replaced_object_as_deleted_and_added),
        TEST(retries_with_a_growing_delay),
        TEST(does_not_spin_on_short_watches),
        TEST(may_be_freed_at_any_time),
        cmocka_unit_test(matches_the_server_after_all_faults),
        cmocka_unit_test(gives_the_same_run_for_the_same_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
