/* Tests server-side apply and field ownership as whole scenarios through the API. The responses are
 * compared with those of Kubernetes 1.20.2, which tests/kubernetes/record-apply recorded.
 * apply_differences.json lists where this server differs on purpose, and why. */
#include "api.h"

#include "base/str.h"
#include "base/system/file.h"
#include "kube/patch/fieldset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DATA_MAX = 4 * 1024 * 1024 };

static struct json *read_data(struct arena *arena, const char *name)
{
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    struct json *json = NULL;
    buf_init(&text, DATA_MAX);
    if (file_read(arena_printf(arena, "%s/%s", TEST_DATA, name), &text, &err) < 0 ||
        json_parse(arena, text.data, text.size, NULL, &json, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    return json;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const char *text_at(const struct json *object, const char *name)
{
    return json_get_string(object, name, "");
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (str_eq(word, *words))
            return true;
    return false;
}

/* Makes the body like record-apply: objects get a kind and a name, patches do not. */
static const char *body_of(struct arena *arena, const struct json *scenario,
                           const struct json *step)
{
    static const char *const objects[] = {"apply", "force", "create", "update", NULL};
    static const char *const named[] = {"apiVersion", "kind", NULL};
    const struct json *sent = json_get(step, "body");
    if (json_get(step, "text"))
        return text_at(step, "text");
    if (!sent)
        return NULL;
    struct json *body = json_clone(arena, sent);
    if (is_one_of(text_at(step, "do"), objects)) {
        for (size_t i = 0; named[i]; i++)
            if (!json_get(body, named[i]))
                json_set_string(arena, body, named[i], text_at(scenario, named[i]));
        struct json *meta = json_ensure_object(arena, body, "metadata");
        if (!json_get(meta, "name"))
            json_set_string(arena, meta, "name", text_at(scenario, "name"));
    }
    return json_to_string(arena, body);
}

static const char *path_of(struct arena *arena, const struct json *scenario,
                           const struct json *step)
{
    const char *verb = text_at(step, "do"), *sub = text_at(step, "sub");
    const char *by = text_at(step, "by"), *path = text_at(scenario, "at");
    if (!str_eq(verb, "create"))
        path =
            arena_printf(arena, "%s/%s%s%s", path, text_at(scenario, "name"), *sub ? "/" : "", sub);
    return arena_printf(arena, "%s?%s%s%s%s", path, text_at(step, "query"),
                        *by ? "&fieldManager=" : "", by,
                        str_eq(verb, "force") ? "&force=true" : "");
}

static struct answer call(struct api *api, const struct json *scenario, const struct json *step)
{
    static const struct {
        const char *verb, *method, *type;
    } VERBS[] = {
        {"apply", "PATCH", "application/apply-patch+yaml"},
        {"force", "PATCH", "application/apply-patch+yaml"},
        {"merge", "PATCH", "application/merge-patch+json"},
        {"strategic", "PATCH", "application/strategic-merge-patch+json"},
        {"json", "PATCH", "application/json-patch+json"},
        {"create", "POST", "application/json"},
        {"update", "PUT", "application/json"},
        {"get", "GET", NULL},
    };
    if (json_get_bool(step, "wait", false))
        api_run(api, 1100);
    for (size_t i = 0; i < sizeof(VERBS) / sizeof(VERBS[0]); i++) {
        if (!str_eq(VERBS[i].verb, text_at(step, "do")))
            continue;
        api->agent = json_get_string(step, "as", "nobody/1");
        return api_call(api, VERBS[i].method, path_of(api->arena, scenario, step), VERBS[i].type,
                        NULL, body_of(api->arena, scenario, step));
    }
    fail_msg("the scenario asks for '%s'", text_at(step, "do"));
    return (struct answer){0};
}

/* ---- Answers, in record-apply's form --------------------------------------------------------- */

static struct json *owners_of(struct arena *arena, const struct json *object)
{
    struct json *owners = json_object(arena);
    JSON_EACH (entry, json_at(object, "metadata", "managedFields", NULL)) {
        const char *key = arena_printf(arena, "%s %s %s", text_at(entry, "manager"),
                                       text_at(entry, "operation"), text_at(entry, "apiVersion"));
        struct fieldset fields, before = {0};
        assert_int_equal(fieldset_from_json(arena, json_get(entry, "fieldsV1"), &fields, NULL), 0);
        if (json_get(owners, key))
            fieldset_from_json(arena, json_get(owners, key), &before, NULL);
        json_set(arena, owners, key,
                 fieldset_to_json(arena, fieldset_union(arena, before, fields)));
    }
    return owners;
}

static const char *cause_text(struct arena *arena, const struct json *cause)
{
    struct json *list = json_array(arena);
    static const char *const names[] = {"reason", "field", "message"};
    for (size_t i = 0; i < 3; i++)
        json_append(list, json_string(arena, json_get_string(cause, names[i], NULL)));
    return json_to_string(arena, list);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct json *causes_of(struct arena *arena, const struct json *status)
{
    const struct json *causes = json_at(status, "details", "causes", NULL);
    const char **texts = ARENA_ARRAY(arena, const char *, json_count(causes));
    struct json *sorted = json_array(arena);
    size_t count = 0;
    JSON_EACH (cause, causes)
        texts[count++] = cause_text(arena, cause);
    qsort(texts, count, sizeof(const char *), compare_texts);
    for (size_t i = 0; i < count; i++) {
        struct json *cause;
        json_parse(arena, texts[i], strlen(texts[i]), NULL, &cause, NULL);
        json_append(sorted, cause);
    }
    return sorted;
}

static struct json *shown(struct arena *arena, const struct json *object, const char *path)
{
    size_t count;
    char **names = str_split(arena, path, '.', &count);
    for (size_t i = 0; i < count; i++)
        object = json_get(object, names[i]);
    return object ? json_clone(arena, object) : json_null(arena);
}

static struct json *note_difference(struct arena *arena, const struct json *scenario,
                                    const struct answer *answer)
{
    struct json *noted = json_object(arena);
    json_set_int(arena, noted, "code", answer->status);
    if (answer->status >= 400) {
        json_set_string(arena, noted, "reason", json_get_string(answer->json, "reason", NULL));
        json_set_string(arena, noted, "message", answer_message(answer));
        json_set(arena, noted, "causes", causes_of(arena, answer->json));
    } else {
        json_set(arena, noted, "owners", owners_of(arena, answer->json));
        json_set(arena, noted, "shown", shown(arena, answer->json, text_at(scenario, "show")));
    }
    return noted;
}

/* ---- The comparison -------------------------------------------------------------------------- */

static const struct json *difference_of(const struct json *differences, const char *scenario,
                                        size_t step)
{
    JSON_EACH (difference, differences)
        if (str_eq(text_at(difference, "scenario"), scenario) &&
            json_get_int(difference, "step", -1) == (int64_t)step)
            return difference;
    return NULL;
}

/* Returns the recorded response, with the members of apply_differences.json replaced. If a success
 * is expected instead of a failure, the members of the failure are removed. */
static struct json *expected_of(struct arena *arena, const struct json *real,
                                const struct json *difference)
{
    static const char *const of_failures[] = {"reason", "message", "causes", NULL};
    struct json *expected = json_clone(arena, real);
    JSON_EACH (member, json_get(difference, "ours"))
        json_set(arena, expected, member->name, json_clone(arena, member));
    for (size_t i = 0; of_failures[i] && json_get_int(expected, "code", 0) < 400; i++)
        json_remove(expected, of_failures[i]);
    return expected;
}

static bool run(struct api *api, const struct json *scenario, const struct json *real,
                const struct json *differences)
{
    const char *name = text_at(scenario, "scenario");
    const struct json *recorded = json_first(json_get(real, "answers"));
    size_t position = 0;
    bool good = true;
    assert_string_equal(name, text_at(real, "scenario"));
    JSON_EACH (step, json_get(scenario, "steps")) {
        struct answer answer = call(api, scenario, step);
        const struct json *difference = difference_of(differences, name, position);
        struct json *ours = note_difference(api->arena, scenario, &answer);
        struct json *expected = expected_of(api->arena, recorded, difference);
        if (difference && json_equal(expected, recorded)) {
            fprintf(stderr, "%s, step %zu: listed as different, but it is not\n", name, position);
            good = false;
        }
        if (!json_equal(ours, expected)) {
            fprintf(stderr, "%s, step %zu:\n  sent     %s\n  expected %s\n  got      %s\n", name,
                    position, json_to_string(api->arena, step),
                    json_to_string(api->arena, expected), json_to_string(api->arena, ours));
            good = false;
        }
        recorded = recorded->next;
        position++;
    }
    return good;
}

static void responses_match_those_of_kubernetes(void **state)
{
    struct api *api = *state;
    const struct json *scenarios = read_data(api->arena, "apply_scenarios.json");
    const struct json *answers = read_data(api->arena, "apply_answers.json");
    const struct json *differences = read_data(api->arena, "apply_differences.json");
    const struct json *real = json_first(answers);
    bool good = true;
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"apply\"}}");
    api_post(api, "/api/v1/namespaces/apply/serviceaccounts",
             "{\"metadata\":{\"name\":\"default\"}}");
    JSON_EACH (scenario, scenarios) {
        good = run(api, scenario, real, differences) && good;
        real = real->next;
    }
    assert_true(good);
}

/* ---- Cases that were not recorded ------------------------------------------------------------ */

#define MAPS  "/api/v1/namespaces/default/configmaps"
#define JOBS  "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
#define APPLY "application/apply-patch+yaml"

static void an_apply_without_a_change_is_not_written(void **state)
{
    static const char map[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                              "{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}";
    struct api *api = *state;
    struct answer made = api_call(api, "PATCH", MAPS "/c?fieldManager=m", APPLY, NULL, map);
    assert_int_equal(made.status, 201);
    const char *before = answer_at(api, &made, "metadata.resourceVersion");
    api_run(api, 5000);
    struct answer answer = api_call(api, "PATCH", MAPS "/c?fieldManager=m", APPLY, NULL, map);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"), before);
    answer = api_put(api, MAPS "/c?fieldManager=n", map);
    assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"), before);
    answer = api_merge(api, MAPS "/c?fieldManager=n", "{\"data\":{\"a\":\"1\"}}");
    assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"), before);
    /* A dry run changes nothing. */
    answer = api_call(api, "PATCH", MAPS "/d?fieldManager=m&dryRun=All", APPLY, NULL,
                      "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}");
    assert_int_equal(answer.status, 201);
    assert_int_equal(api_get(api, MAPS "/d").status, 404);
}

static void a_client_that_scales_owns_the_replicas(void **state)
{
    struct api *api = *state;
    static const char job[] = "{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: j}, "
                              "spec: {tfReplicaSpecs: {worker: {replicas: 1}}}}";
    assert_int_equal(api_call(api, "PATCH", JOBS "/j?fieldManager=m", APPLY, NULL, job).status,
                     201);
    assert_int_equal(
        api_merge(api, JOBS "/j/scale?fieldManager=s", "{\"spec\":{\"replicas\":2}}").status, 200);
    struct answer answer = api_get(api, JOBS "/j");
    assert_string_equal(
        json_to_string(api->arena,
                       json_element(json_at(answer.json, "metadata", "managedFields", NULL), 1)),
        "{\"manager\":\"s\",\"operation\":\"Update\",\"apiVersion\":\"kubeflow.org/v1\","
        "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:tfReplicaSpecs\":"
        "{\"f:worker\":{\"f:replicas\":{}}}}},\"subresource\":\"scale\"}");
    answer = api_call(api, "PATCH", JOBS "/j?fieldManager=m", APPLY, NULL, job);
    assert_string_equal(answer_message(&answer),
                        "Apply failed with 1 conflict: conflict with \"s\" with subresource "
                        "\"scale\" using kubeflow.org/v1: .spec.tfReplicaSpecs.worker.replicas");
    answer = api_call(api, "PATCH", JOBS "/none/status?fieldManager=m", APPLY, NULL, job);
    assert_int_equal(answer.status, 404);
}

/* A Scale can be applied, too. Its replicas are those of the object, so they can conflict with
 * other managers of the object. */
static void a_scale_is_applied(void **state)
{
    struct api *api = *state;
    static const char job[] = "{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: j}, "
                              "spec: {tfReplicaSpecs: {worker: {replicas: 1}}}}";
    static const char scale[] = "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: j}, "
                                "spec: {replicas: 3}}";
    api_call(api, "PATCH", JOBS "/j?fieldManager=m", APPLY, NULL, job);
    struct answer answer =
        api_call(api, "PATCH", JOBS "/j/scale?fieldManager=s", APPLY, NULL, scale);
    assert_int_equal(answer.status, 409);
    assert_string_equal(answer_message(&answer),
                        "Apply failed with 1 conflict: conflict with \"m\": "
                        ".spec.tfReplicaSpecs.worker.replicas");
    answer = api_call(api, "PATCH", JOBS "/j/scale?fieldManager=s&force=true", APPLY, NULL, scale);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "kind"), "Scale");
    assert_string_equal(answer_at(api, &answer, "spec.replicas"), "3");
    answer = api_get(api, JOBS "/j");
    const struct json *entries = json_at(answer.json, "metadata", "managedFields", NULL);
    assert_string_equal(
        json_to_string(api->arena, json_get(json_element(entries, 1), "fieldsV1")),
        "{\"f:spec\":{\"f:tfReplicaSpecs\":{\"f:worker\":{\".\":{},\"f:replicas\":{}}}}}");
    assert_string_equal(json_get_string(json_element(entries, 1), "subresource", ""), "scale");
    assert_string_equal(json_get_string(json_element(entries, 1), "operation", ""), "Apply");
    answer = api_call(api, "PATCH", JOBS "/j/scale?fieldManager=s", APPLY, NULL, scale);
    assert_int_equal(answer.status, 200); /* the manager's own field */
    answer = api_call(api, "PATCH", JOBS "/j/scale?fieldManager=s", APPLY, NULL, "{}");
    assert_int_equal(answer.status, 400);
    answer = api_call(api, "PATCH", JOBS "/j/scale", APPLY, NULL, scale);
    assert_int_equal(answer.status, 422);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(responses_match_those_of_kubernetes, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(an_apply_without_a_change_is_not_written, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(a_client_that_scales_owns_the_replicas, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(a_scale_is_applied, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
