/* Tests lists that take more than one turn of the loop. They show the state of one revision. The
 * server may be freed, or the kind removed, before the response is complete. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

enum { OBJECTS = 700, CHOSEN = OBJECTS / 7 };

static int setup(void **state)
{
    api_setup(state);
    struct api *api = *state;
    for (int i = 0; i < OBJECTS; i++) {
        const char *body = arena_printf(
            api->arena, "{\"metadata\":{\"name\":\"m-%03d\",\"labels\":{\"seventh\":\"%s\"}}}", i,
            i % 7 ? "no" : "yes");
        assert_int_equal(api_post(api, MAPS, body).status, 201);
    }
    return 0;
}

static void expect_items(struct api *api, const char *path, size_t count, const char *first)
{
    struct answer answer = api_get(api, path);
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_count(json_get(answer.json, "items")), count);
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.name"), first);
}

static void test_forms(void **state)
{
    struct api *api = *state;
    expect_items(api, MAPS, OBJECTS, "m-000");
    expect_items(api, MAPS "?labelSelector=seventh%3Dyes", CHOSEN, "m-000");
    expect_items(api, MAPS "?fieldSelector=metadata.name%3Dm-699", 1, "m-699");
    struct answer table = api_call(api, "GET", MAPS, NULL, TABLE, NULL);
    assert_int_equal(json_count(json_get(table.json, "rows")), OBJECTS);
}

static void test_pages(void **state)
{
    struct api *api = *state;
    const char *path = MAPS "?labelSelector=seventh%3Dyes&limit=60";
    struct answer answer = api_get(api, path);
    assert_int_equal(json_count(json_get(answer.json, "items")), 60);
    const char *next = answer_at(api, &answer, "metadata.continue");
    expect_items(api, arena_printf(api->arena, "%s&continue=%s", path, next), CHOSEN - 60, "m-420");
    answer = api_get(api, MAPS "?limit=650");
    assert_string_equal(answer_at(api, &answer, "metadata.remainingItemCount"), "50");
}

/* ---- Ends before the answer ------------------------------------------------------------------ */

struct asked {
    struct loop_task stop;
    struct loop *loop;
    int status;
};

static void on_stop(struct loop_task *task)
{
    loop_stop(CONTAINER_OF(task, struct asked, stop)->loop);
}

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct asked *asked = context;
    asked->status = status;
}

static void on_end(void *context, const struct err *err)
{
}

/* Requests a list, and stops the loop after the turn in which the server begins with it. */
static void begin_list(struct api *api, const char *path, struct asked *asked)
{
    static const struct http_callbacks LISTENER = {.on_head = on_head, .on_end = on_end};
    struct http_header accept = {"Accept", "application/json", NULL};
    struct http_header token = {"Authorization", "Bearer " API_TOKEN, &accept};
    struct http_request request = {.method = "GET", .path = path, .headers = &token};
    *asked = (struct asked){.stop.callback = on_stop, .loop = api->loop};
    http_start(api->transport, &request, 60 * 1000, &LISTENER, asked);
    loop_defer(api->loop, &asked->stop);
    loop_run(api->loop);
    assert_int_equal(asked->status, 0);
}

static void test_server_ends(void **state)
{
    struct api *api = *state;
    struct asked asked;
    begin_list(api, MAPS, &asked);
    /* The teardown frees the server: nothing may leak or be used afterwards. */
}

static void test_one_revision(void **state)
{
    struct api *api = *state;
    struct asked asked;
    begin_list(api, MAPS, &asked);
    assert_int_equal(api_delete(api, MAPS "/m-699", NULL).status, 200);
    api_run(api, 1000);
    assert_int_equal(asked.status, 200);
    expect_items(api, MAPS, OBJECTS - 1, "m-000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_pages, setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_server_ends, setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_one_revision, setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
