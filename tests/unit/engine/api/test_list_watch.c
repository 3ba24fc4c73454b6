/* Tests LIST and WATCH: selectors, versions, objects that enter and leave a selection, bookmarks,
 * and Tables. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
#define WORKFLOW_X                                                                                 \
    "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"entrypoint\":\"a\",\"templates\":[{\"name\":"      \
    "\"a\","                                                                                       \
    "\"container\":{\"image\":\"i\"}}]}}"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

static struct answer make(struct api *api, const char *name, const char *label)
{
    struct answer answer = api_post(
        api, MAPS,
        arena_printf(api->arena, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"t\":\"%s\"}}}", name,
                     label));
    assert_int_equal(answer.status, 201);
    return answer;
}

static const char *names(struct api *api, const char *path)
{
    struct answer answer = api_get(api, path);
    assert_int_equal(answer.status, 200);
    const char *text = "";
    JSON_EACH (item, json_get(answer.json, "items"))
        text = arena_printf(api->arena, "%s%s%s", text, text[0] ? " " : "", kube_meta_name(item));
    return text;
}

static void test_list(void **state)
{
    struct api *api = *state;
    make(api, "b", "1");
    make(api, "a", "2");
    make(api, "c", "1");
    struct answer answer = api_get(api, MAPS "?limit=500");
    assert_string_equal(answer_at(api, &answer, "kind"), "ConfigMapList");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "v1");
    assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"),
                        arena_printf(api->arena, "%lld", (long long)store_revision(api->store)));
    assert_string_equal(names(api, MAPS), "a b c");
    assert_string_equal(names(api, "/api/v1/configmaps"), "a b c");
    assert_string_equal(names(api, MAPS "?labelSelector=t%3D1"), "b c");
    assert_string_equal(names(api, MAPS "?labelSelector=t+in+(1,2),t!%3D1"), "a");
    assert_string_equal(names(api, MAPS "?fieldSelector=metadata.name%3Db"), "b");
    assert_string_equal(names(api, "/api/v1/namespaces/none/configmaps"), "");
    assert_int_equal(api_get(api, MAPS "?fieldSelector=data.x%3Db").status, 400);
    assert_int_equal(api_get(api, MAPS "?labelSelector=%3D%3D").status, 400);
}

/* A typed list has the kind once, not in its items, for any order of the members in an item. */
static void test_items_do_not_repeat_their_kind(void **state)
{
    static const char *const bodies[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}",
        "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"}}",
        "{\"metadata\":{\"name\":\"c\"},\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}",
        "{\"metadata\":{\"name\":\"d\"},\"data\":{\"kind\":\"kept\"}}",
    };
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
        assert_int_equal(api_post(api, MAPS, bodies[i]).status, 201);
    struct answer answer = api_get(api, MAPS);
    assert_non_null(answer.json);
    size_t count = 0;
    JSON_EACH (item, json_get(answer.json, "items")) {
        assert_null(json_get(item, "kind"));
        assert_null(json_get(item, "apiVersion"));
        assert_non_null(json_get(item, "metadata"));
        count++;
    }
    assert_int_equal(count, 4);
    assert_string_equal(names(api, MAPS), "a b c d");
    assert_string_equal(answer_at(api, &answer, "items.3.data.kind"), "kept");
    /* A single object, an event, and an object in a Table have their kind themselves. */
    assert_string_equal(api_at(api, MAPS "/a", "kind"), "ConfigMap");
    struct stream *stream = stream_open(api, MAPS "?watch=true", NULL);
    for (size_t i = 0; i < stream_count(stream); i++)
        assert_string_equal(
            json_get_string(json_get(stream_event(stream, i), "object"), "kind", ""), "ConfigMap");
    assert_int_equal(stream_count(stream), 4);
    stream_close(stream);
    answer = api_call(api, "GET", MAPS "?includeObject=Object", NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "rows.2.object.kind"), "ConfigMap");
    /* Custom resources always have their kind. */
    assert_int_equal(
        api_post(api, "/apis/argoproj.io/v1alpha1/namespaces/default/workflows", WORKFLOW_X).status,
        201);
    answer = api_get(api, "/apis/argoproj.io/v1alpha1/workflows");
    assert_string_equal(answer_at(api, &answer, "items.0.kind"), "Workflow");
    assert_string_equal(answer_at(api, &answer, "items.0.apiVersion"), "argoproj.io/v1alpha1");
}

/* Returns the names of a list that is read in pages, with a bar between the pages. */
static const char *names_in_pages(struct api *api, const char *path)
{
    static int made;
    const char *text = "", *token = "", *revision = NULL;
    do {
        struct answer answer =
            api_get(api, arena_printf(api->arena, "%s&continue=%s", path, token));
        assert_int_equal(answer.status, 200);
        if (!revision)
            revision = answer_at(api, &answer, "metadata.resourceVersion");
        assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"), revision);
        JSON_EACH (item, json_get(answer.json, "items"))
            text = arena_printf(api->arena, "%s%s", text, kube_meta_name(item));
        token = answer_at(api, &answer, "metadata.continue");
        text = arena_printf(api->arena, "%s%s", text, token[0] ? "|" : "");
        /* other objects are created meanwhile */
        make(api, arena_printf(api->arena, "z%d", made++), "9");
    } while (token[0]);
    return text;
}

static void test_list_in_pages(void **state)
{
    struct api *api = *state;
    for (const char *name = "abcde"; *name; name++)
        make(api, arena_printf(api->arena, "%c", *name), *name == 'c' ? "2" : "1");
    struct answer answer = api_get(api, MAPS "?limit=2");
    assert_string_equal(answer_at(api, &answer, "metadata.remainingItemCount"), "3");
    const char *token = answer_at(api, &answer, "metadata.continue");
    answer = api_get(api, MAPS "?limit=5");
    assert_string_equal(answer_at(api, &answer, "metadata.continue"), "");
    assert_string_equal(answer_at(api, &answer, "metadata.remainingItemCount"), "");
    answer = api_get(api, MAPS "?limit=1&labelSelector=t%3D1");
    assert_string_equal(answer_at(api, &answer, "metadata.remainingItemCount"), "");
    answer = api_call(api, "GET", MAPS "?limit=1", NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "rows.1"), "");
    assert_string_equal(answer_at(api, &answer, "metadata.remainingItemCount"), "4");
    assert_string_equal(names_in_pages(api, MAPS "?limit=2&labelSelector=t%3D1"), "ab|de");
    assert_string_equal(names_in_pages(api, MAPS "?limit=2&labelSelector=t+in+(1,2)"), "ab|cd|e");

    answer = api_get(api, MAPS "?limit=x");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer), "strconv.ParseInt: parsing \"x\": invalid syntax");
    assert_int_equal(api_get(api, MAPS "?limit=-1").status, 200);
    assert_int_equal(api_get(api, MAPS "?limit=1&continue=nonsense").status, 400);
    assert_int_equal(
        api_get(api, arena_printf(api->arena, "%s?continue=%s&resourceVersion=1", MAPS, token))
            .status,
        400);
    /* The changes since the first page must be kept. */
    assert_int_equal(api_get(api, arena_printf(api->arena, "%s?continue=%s", MAPS, token)).status,
                     200);
    for (int i = 0; i < 10 * 1000; i++)
        make(api, arena_printf(api->arena, "n%d", i), "3");
    answer = api_get(api, arena_printf(api->arena, "%s?continue=%s", MAPS, token));
    assert_int_equal(answer.status, 410);
    assert_string_equal(answer_at(api, &answer, "reason"), "Expired");
}

static void test_list_versions(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    assert_int_equal(api_get(api, MAPS "?resourceVersion=0").status, 200);
    assert_int_equal(api_get(api, MAPS "?resourceVersion=1").status, 200);
    assert_int_equal(api_get(api, MAPS "?resourceVersion=1&resourceVersionMatch=Exact").status,
                     410);
    struct answer answer = api_get(api, MAPS "?resourceVersion=x");
    assert_int_equal(answer.status, 500);
    assert_string_equal(answer_message(&answer),
                        "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": "
                        "invalid syntax");
    assert_string_equal(answer_reason(&answer), "");
}

/* The cause tells a client with a revision of a newer store that a retry does not help. */
static void assert_too_new(struct api *api, struct json *status)
{
    struct answer answer = {.json = status};
    const char *message = answer_at(api, &answer, "message");
    assert_string_equal(message, arena_printf(api->arena,
                                              "Timeout: Too large resource version: 99999, "
                                              "current: %lld",
                                              (long long)store_revision(api->store)));
    assert_string_equal(answer_at(api, &answer, "reason"), "Timeout");
    assert_string_equal(answer_at(api, &answer, "code"), "504");
    assert_string_equal(answer_at(api, &answer, "details.causes.0.reason"),
                        "ResourceVersionTooLarge");
    assert_string_equal(answer_at(api, &answer, "details.causes.0.message"),
                        "Too large resource version");
    assert_null(json_get(json_get(status, "details"), "name"));
    assert_string_equal(answer_at(api, &answer, "details.retryAfterSeconds"), "1");
}

static void test_future_resource_versions(void **state)
{
    static const char *const paths[] = {
        MAPS "?resourceVersion=99999",
        MAPS "?resourceVersion=99999&limit=5",
        MAPS "?resourceVersion=99999&resourceVersionMatch=Exact",
        MAPS "/a?resourceVersion=99999",
        MAPS "/missing?resourceVersion=99999",
    };
    struct api *api = *state;
    make(api, "a", "1");
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct answer answer = api_get(api, paths[i]);
        assert_int_equal(answer.status, 504);
        assert_string_equal(answer.retry_after, "1");
        assert_too_new(api, answer.json);
    }
    const char *present = arena_printf(api->arena, "%lld", (long long)store_revision(api->store));
    const char *path = arena_printf(api->arena, "%s/a?resourceVersion=%s", MAPS, present);
    assert_int_equal(api_get(api, path).status, 200);
    assert_int_equal(api_get(api, MAPS "/a?resourceVersion=0").status, 200);
    assert_int_equal(api_get(api, MAPS "/a?resourceVersion=x").status, 500);

    /* A watch that begins with the present state. Without sendInitialEvents the same revision is
     * expired. */
    struct stream *stream =
        stream_open(api,
                    MAPS "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                         "resourceVersion=99999",
                    NULL);
    assert_true(stream_ended(stream));
    assert_int_equal(stream_count(stream), 1);
    assert_string_equal(json_get_string(stream_event(stream, 0), "type", ""), "ERROR");
    assert_too_new(api, json_get(stream_event(stream, 0), "object"));
    stream_close(stream);
    path = arena_printf(
        api->arena,
        "%s?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=%s",
        MAPS, present);
    stream = stream_open(api, path, NULL);
    assert_string_equal(stream_text(stream, 0), "ADDED a, BOOKMARK ");
    stream_close(stream);
    assert_int_equal(api_get(api, MAPS "?watch=true&sendInitialEvents=true&resourceVersionMatch="
                                       "NotOlderThan&resourceVersion=x")
                         .status,
                     500);
}

/* Options that would be ignored are rejected: a client that asks for an exact list must not get
 * another one. */
static void test_list_options(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *query, *complaint; /* "": accepted */
    } rows[] = {
        {"resourceVersionMatch=NotOlderThan&resourceVersion=0", ""},
        {"resourceVersionMatch=Exact",
         "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
         "resourceVersion is provided"},
        {"resourceVersionMatch=Exact&resourceVersion=0",
         "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
         "resourceVersion \"0\""},
        {"resourceVersionMatch=Newest&resourceVersion=1",
         "resourceVersionMatch: Unsupported value: \"Newest\": supported values: \"Exact\", "
         "\"NotOlderThan\", \"\""},
        {"resourceVersionMatch=Exact&resourceVersion=1&continue=x",
         "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
         "provided"},
        {"sendInitialEvents=true",
         "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
        {"watch=1&resourceVersionMatch=NotOlderThan",
         "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless "
         "sendInitialEvents is provided"},
        {"watch=1&sendInitialEvents=true",
         "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
         "resourceVersionMatch to NotOlderThan"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = api_get(api, arena_printf(api->arena, "%s?%s", MAPS, rows[i].query));
        assert_int_equal(answer.status, rows[i].complaint[0] ? 422 : 200);
        if (rows[i].complaint[0])
            assert_string_equal(answer_message(&answer),
                                arena_printf(api->arena,
                                             "ListOptions.meta.k8s.io \"\" is invalid: %s",
                                             rows[i].complaint));
    }
}

#define PARTIAL(list) "application/json;as=PartialObjectMetadata" list ";v=v1;g=meta.k8s.io"

/* PartialObjectMetadata, for clients that watch all resources. */
static void test_partial_object_metadata(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_call(api, "GET", MAPS "?labelSelector=t%3Dno", NULL, PARTIAL("List"), NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "PartialObjectMetadataList");
    assert_int_equal(json_get(answer.json, "items")->type, JSON_NULL);
    make(api, "a", "1");
    answer = api_call(api, "GET", MAPS "?labelSelector=t%3D1", NULL, PARTIAL("List"), NULL);
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "meta.k8s.io/v1");
    assert_string_equal(answer_at(api, &answer, "items.0.kind"), "PartialObjectMetadata");
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.name"), "a");
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.labels.t"), "1");
    answer = api_call(api, "GET", MAPS "/a", NULL, PARTIAL(""), NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "PartialObjectMetadata");
    assert_string_equal(answer_at(api, &answer, "metadata.name"), "a");
    /* The list form is rejected for a single object, and the object form for a list. */
    assert_int_equal(api_call(api, "GET", MAPS "/a", NULL, PARTIAL("List"), NULL).status, 406);
    assert_int_equal(api_call(api, "GET", MAPS, NULL, PARTIAL(""), NULL).status, 406);
    answer = api_call(api, "GET", MAPS "/missing", NULL, PARTIAL(""), NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Status");

    struct stream *stream = stream_open(
        api,
        MAPS
        "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&labelSelector=t%3D1",
        PARTIAL(""));
    api_merge(api, MAPS "/a", "{\"metadata\":{\"labels\":{\"t\":\"2\"}}}");
    assert_int_equal(stream_count(stream), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(
            json_get_string(json_get(stream_event(stream, i), "object"), "kind", ""),
            "PartialObjectMetadata");
    assert_string_equal(stream_text(stream, 2), "DELETED a");
    stream_close(stream);
}

static void test_list_table(void **state)
{
    struct api *api = *state;
    make(api, "b", "1");
    make(api, "a", "2");
    struct answer answer = api_call(api, "GET", MAPS "?labelSelector=t%3D1", NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Table");
    assert_string_equal(answer_at(api, &answer, "rows.0.object.metadata.name"), "b");
    assert_string_equal(answer_at(api, &answer, "rows.1"), "");
}

static void test_watch_from_version(void **state)
{
    struct api *api = *state;
    struct answer first = make(api, "a", "1");
    make(api, "b", "1");
    struct stream *stream =
        stream_open(api,
                    arena_printf(api->arena, MAPS "?watch=true&resourceVersion=%s",
                                 answer_at(api, &first, "metadata.resourceVersion")),
                    NULL);
    assert_string_equal(stream_text(stream, 0), "ADDED b");
    api_merge(api, MAPS "/a", "{\"data\":{\"k\":\"v\"}}");
    api_delete(api, MAPS "/b", NULL);
    assert_string_equal(stream_text(stream, 1), "MODIFIED a, DELETED b");
    /* Every event has the revision of its change. */
    const char *last = kube_meta_resource_version(json_get(stream_event(stream, 2), "object"));
    assert_string_equal(last,
                        arena_printf(api->arena, "%lld", (long long)store_revision(api->store)));
    assert_false(stream_ended(stream));
    stream_close(stream);
}

static void test_watch_with_initial_events(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct stream *stream = stream_open(api, MAPS "?watch=true&resourceVersion=0", NULL);
    assert_string_equal(stream_text(stream, 0), "ADDED a");
    make(api, "b", "1");
    assert_string_equal(stream_text(stream, 1), "ADDED b");
    stream_close(stream);
}

static void test_watch_selector(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct stream *stream = stream_open(api, MAPS "?watch=true&labelSelector=t%3D1", NULL);
    assert_string_equal(stream_text(stream, 0), "ADDED a");
    make(api, "b", "2");
    api_merge(api, MAPS "/b", "{\"metadata\":{\"labels\":{\"t\":\"1\"}}}");
    api_merge(api, MAPS "/b", "{\"data\":{\"k\":\"v\"}}");
    api_merge(api, MAPS "/a", "{\"metadata\":{\"labels\":{\"t\":\"2\"}}}");
    api_delete(api, MAPS "/a", NULL);
    api_delete(api, MAPS "/b", NULL);
    assert_string_equal(stream_text(stream, 1), "ADDED b, MODIFIED b, DELETED a, DELETED b");
    /* An object that no longer matches the selector is shown as it was when it matched. */
    struct json *left = json_get(stream_event(stream, 3), "object");
    assert_string_equal(kube_meta_label(left, "t"), "1");
    stream_close(stream);
}

static const char *version_of_event(struct stream *stream, size_t position)
{
    return kube_meta_resource_version(json_get(stream_event(stream, position), "object"));
}

/* Watches with different options get the same change, each in its own form. */
static void test_watches_share_a_change(void **state)
{
    struct api *api = *state;
    static const char one[] = MAPS "?watch=true&labelSelector=t%3D1";
    struct answer before = make(api, "z", "9"), made = make(api, "a", "1");
    struct stream *whole = stream_open(api, one, NULL), *again = stream_open(api, one, NULL);
    struct stream *partial = stream_open(api, one, PARTIAL("")),
                  *table = stream_open(api, one, TABLE);
    struct stream *two = stream_open(api, MAPS "?watch=true&labelSelector=t%3D2", NULL);
    struct stream *both = stream_open(api, MAPS "?watch=true&labelSelector=t+in+(1,2)", NULL);
    struct answer changed = api_merge(api, MAPS "/a", "{\"metadata\":{\"labels\":{\"t\":\"2\"}}}");
    const char *version = answer_at(api, &changed, "metadata.resourceVersion");
    struct stream *left[] = {whole, again, partial};
    for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
        assert_string_equal(stream_text(left[i], 0), "ADDED a, DELETED a");
        assert_string_equal(version_of_event(left[i], 1), version);
        assert_string_equal(kube_meta_label(json_get(stream_event(left[i], 1), "object"), "t"),
                            "1");
    }
    assert_string_equal(stream_text(two, 0), "ADDED a");
    assert_string_equal(stream_text(both, 0), "ADDED a, MODIFIED a");
    assert_int_equal(stream_count(table), 2);
    assert_string_equal(json_get_string(stream_event(table, 1), "type", ""), "DELETED");
    /* The version that some watches have shown last is still the same. */
    struct stream *past =
        stream_open(api,
                    arena_printf(api->arena, MAPS "?watch=true&resourceVersion=%s",
                                 answer_at(api, &before, "metadata.resourceVersion")),
                    PARTIAL(""));
    assert_string_equal(stream_text(past, 0), "ADDED a, MODIFIED a");
    assert_string_equal(version_of_event(past, 0),
                        answer_at(api, &made, "metadata.resourceVersion"));
    struct stream *all[] = {whole, again, partial, table, two, both, past};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        stream_close(all[i]);
}

static void test_watch_bookmarks(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct stream *stream = stream_open(api,
                                        MAPS "?watch=true&sendInitialEvents=true&"
                                             "allowWatchBookmarks=true&resourceVersionMatch="
                                             "NotOlderThan&timeoutSeconds=100",
                                        NULL);
    assert_string_equal(stream_text(stream, 0), "ADDED a, BOOKMARK ");
    struct json *mark = json_get(stream_event(stream, 1), "object");
    assert_string_equal(kube_meta_annotation(mark, "k8s.io/initial-events-end"), "true");
    assert_string_equal(json_get_string(mark, "kind", ""), "ConfigMap");
    assert_string_equal(kube_meta_resource_version(mark),
                        arena_printf(api->arena, "%lld", (long long)store_revision(api->store)));
    api_run(api, 61 * 1000);
    assert_string_equal(stream_text(stream, 2), "BOOKMARK ");
    mark = json_get(stream_event(stream, 2), "object");
    assert_null(kube_meta_annotation(mark, "k8s.io/initial-events-end"));
    assert_false(stream_ended(stream));
    api_run(api, 60 * 1000);
    assert_true(stream_ended(stream));
    stream_close(stream);
}

static void test_watch_table(void **state)
{
    struct api *api = *state;
    make(api, "a", "1");
    struct stream *stream = stream_open(api, MAPS "?watch=true", TABLE);
    make(api, "b", "1");
    assert_int_equal(stream_count(stream), 2);
    struct json *table = json_get(stream_event(stream, 0), "object");
    assert_string_equal(json_get_string(table, "kind", ""), "Table");
    assert_non_null(json_get(table, "columnDefinitions"));
    table = json_get(stream_event(stream, 1), "object");
    assert_int_equal(json_count(json_get(table, "rows")), 1);
    stream_close(stream);
}

static void test_watch_expired(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, MAPS "?watch=true&resourceVersion=9999", NULL);
    assert_true(stream_ended(stream));
    struct json *event = stream_event(stream, 0);
    assert_string_equal(json_get_string(event, "type", ""), "ERROR");
    assert_int_equal(json_get_int(json_get(event, "object"), "code", 0), 410);
    assert_string_equal(json_get_string(json_get(event, "object"), "reason", ""), "Expired");
    stream_close(stream);
    /* No client can have seen revisions that the server wrote before it listened. */
    stream = stream_open(api, MAPS "?watch=true&resourceVersion=1", NULL);
    assert_true(stream_ended(stream));
    event = stream_event(stream, 0);
    assert_int_equal(json_get_int(json_get(event, "object"), "code", 0), 410);
    stream_close(stream);
}

/* Watches that are open when the engine is freed are ended and not leaked. */
static void test_watch_ends_with_the_engine(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, MAPS "?watch=true", NULL);
    engine_free(api->engine);
    api_run(api, 1000);
    assert_true(stream_ended(stream));
    api->engine = NULL;
    stream_close(stream);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_list),
        API_TEST(test_items_do_not_repeat_their_kind),
        API_TEST(test_list_in_pages),
        API_TEST(test_list_versions),
        API_TEST(test_future_resource_versions),
        API_TEST(test_list_options),
        API_TEST(test_partial_object_metadata),
        API_TEST(test_list_table),
        API_TEST(test_watch_from_version),
        API_TEST(test_watch_with_initial_events),
        API_TEST(test_watch_selector),
        API_TEST(test_watches_share_a_change),
        API_TEST(test_watch_bookmarks),
        API_TEST(test_watch_table),
        API_TEST(test_watch_expired),
        API_TEST(test_watch_ends_with_the_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
