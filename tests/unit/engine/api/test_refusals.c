/* Tests rejected objects: every case of tests/refusals/cases.yaml is compared with the recorded
 * response of Kubernetes. The causes are compared as sets, because rules may be checked in another
 * order. */
#include "every_kind.h"

#include "base/json/yaml.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json *read_document(struct api *api, const char *name)
{
    const char *path = arena_printf(api->arena, "%s/%s", getenv("REFUSALS"), name);
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    struct json *documents = NULL;
    buf_init(&text, 4 * 1024 * 1024);
    if (file_read(path, &text, &err) < 0 ||
        yaml_parse(api->arena, &(struct source){path, text.data, text.size, false}, NULL,
                   &documents, &err) < 0)
        fail_msg("%s: %s", path, err.message);
    return json_element(documents, 0);
}

/* ---- The object of a case -------------------------------------------------------------------- */

static const char *unescape(struct arena *arena, const char *piece)
{
    char *name = arena_strdup(arena, piece), *at;
    while ((at = strstr(name, "~1"))) {
        *at = '/';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
    return name;
}

static void set_member(struct arena *arena, struct json *target, const char *path,
                       const struct json *value)
{
    size_t count;
    char **pieces = str_split(arena, path + 1, '/', &count);
    for (size_t i = 0; i + 1 < count; i++)
        target = target->type == JSON_ARRAY
                     ? json_element(target, (size_t)atoi(pieces[i]))
                     : (json_get(target, pieces[i]) ? json_get(target, pieces[i])
                                                    : json_ensure_object(arena, target, pieces[i]));
    const char *name = unescape(arena, pieces[count - 1]);
    if (value->type == JSON_NULL)
        json_remove(target, name);
    else
        json_set(arena, target, name, json_clone(arena, value));
}

static struct json *changed(struct arena *arena, const struct json *object,
                            const struct json *changes)
{
    struct json *copy = json_clone(arena, object);
    JSON_EACH (change, changes)
        set_member(arena, copy, change->name, change);
    return copy;
}

static const char *collection_of(struct api *api, const struct json *object)
{
    const struct kube_kind *resource;
    const char *version = json_get_string(object, "apiVersion", "");
    for (size_t i = 0; (resource = every_built_in_at(i)); i++)
        if (str_eq(resource->api_version, version) &&
            str_eq(resource->id.kind, json_get_string(object, "kind", "")))
            return kube_resource_path(api->arena, &resource->id,
                                      resource->id.namespaced ? "default" : NULL, NULL, NULL);
    fail_msg("%s is not served", json_get_string(object, "kind", ""));
    return NULL;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* "…" in `wanted` stands for any text. */
static bool matches(const char *wanted, const char *is)
{
    const char *gap = strstr(wanted, "…");
    if (!gap)
        return str_eq(wanted, is);
    return strncmp(wanted, is, (size_t)(gap - wanted)) == 0 &&
           str_has_suffix(is, gap + strlen("…"));
}

static bool contains(const struct json *list, const char *text, bool list_is_wanted)
{
    JSON_EACH (item, list) {
        if (list_is_wanted ? matches(json_text(item), text) : matches(text, json_text(item)))
            return true;
    }
    return false;
}

/* Returns "field: message" of each cause. */
static struct json *causes_of(struct api *api, const struct answer *answer)
{
    struct json *list = json_array(api->arena);
    JSON_EACH (cause, json_at(answer->json, "details", "causes", NULL))
        json_append(list, json_stringf(api->arena, "%s: %s", json_get_string(cause, "field", ""),
                                       json_get_string(cause, "message", "")));
    return list;
}

/* Prints each difference. Returns true if there is none. */
static bool compare(struct api *api, const struct json *case_, const struct json *recorded,
                    const struct answer *answer)
{
    const struct json *ours = json_get(case_, "ours"), *is = causes_of(api, answer);
    const struct json *wanted = ours ? ours : json_get(recorded, "causes");
    const char *message = ours ? NULL : json_get_string(recorded, "message", NULL);
    int64_t code = !ours ? json_get_int(recorded, "code", 0) : json_count(ours) ? 422 : 201;
    bool same = answer->status == code && (!message || str_eq(message, answer_message(answer)));
    if (!same)
        print_message("  %d, not %lld: %s\n", answer->status, (long long)code,
                      answer_message(answer));
    JSON_EACH (cause, wanted) {
        if (contains(is, json_text(cause), false))
            continue;
        print_message("  missing: %s\n", json_text(cause));
        same = false;
    }
    JSON_EACH (cause, is) {
        if (contains(wanted, json_text(cause), true))
            continue;
        print_message("  too much: %s\n", json_text(cause));
        same = false;
    }
    return same;
}

static struct answer ask(struct api *api, const struct json *case_, const struct json *bases)
{
    const struct json *base = json_get(bases, json_get_string(case_, "base", ""));
    const struct json *then = json_get(case_, "then");
    assert_non_null(base);
    struct json *object = changed(api->arena, base, json_get(case_, "set"));
    const char *path = collection_of(api, object);
    struct answer answer = api_post(api, path, json_to_string(api->arena, object));
    if (!then)
        return answer;
    if (answer.status != 201)
        fail_msg("%s: %s", json_to_string(api->arena, case_), answer.body);
    object = changed(api->arena, answer.json, then);
    return api_put(api, arena_printf(api->arena, "%s/%s", path, kube_meta_name(object)),
                   json_to_string(api->arena, object));
}

static void rejected_objects_get_the_causes_of_kubernetes(void **state)
{
    struct api *api = *state;
    const struct json *data = read_document(api, "cases.yaml");
    const struct json *answers = read_document(api, "answers.json");
    const struct json *recorded = json_first(answers);
    size_t different = 0;
    assert_int_equal(json_count(json_get(data, "cases")), json_count(answers));
    JSON_EACH (case_, json_get(data, "cases")) {
        struct api fresh;
        api_open(&fresh, 1);
        struct answer answer = ask(&fresh, case_, json_get(data, "bases"));
        bool same = compare(&fresh, case_, recorded, &answer);
        if (json_get(case_, "ours") && !json_get(case_, "why"))
            fail_msg("line %u: it is not said why", case_->line);
        if (!same)
            print_message("cases.yaml:%u: %s\n", case_->line, json_to_string(fresh.arena, case_));
        different += !same;
        api_close(&fresh);
        recorded = recorded->next;
    }
    if (different)
        fail_msg("%zu of %zu answers differ", different, json_count(answers));
}

/* ---- Pods in templates ----------------------------------------------------------------------- */

#define TEMPLATE "spec.tfReplicaSpecs.Worker.template."

static bool changes_only_the_spec(const struct json *case_)
{
    JSON_EACH (change, json_get(case_, "set"))
        if (!str_has_prefix(change->name, "/spec/") ||
            str_has_prefix(change->name, "/spec/restartPolicy"))
            return false;
    return str_eq(json_get_string(case_, "base", ""), "pod") && !json_get(case_, "then");
}

static struct json *in_tfjob(struct api *api, const struct json *pod)
{
    struct json *job = NULL;
    static const char text[] =
        "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"x\"},"
        "\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"template\":{}}}}}";
    assert_int_equal(json_parse(api->arena, text, strlen(text), NULL, &job, NULL), 0);
    json_set(api->arena, json_at(job, "spec", "tfReplicaSpecs", "Worker", "template", NULL), "spec",
             json_clone(api->arena, json_get(pod, "spec")));
    return job;
}

/* The causes of a rejected pod, with the paths of a template. */
static struct json *template_causes(struct api *api, const struct json *causes)
{
    struct json *list = json_array(api->arena);
    JSON_EACH (cause, causes)
        json_append(list, json_stringf(api->arena, TEMPLATE "%s", json_text(cause)));
    return list;
}

/* Pods get requests from their limits by default, and templates do not. A missing required field is
 * reported before it is validated. */
static bool applies_to_pods_only(const struct json *causes)
{
    JSON_EACH (cause, causes)
        if (strstr(json_text(cause), ".resources.requests[hugepages") ||
            strstr(json_text(cause), ".resources.requests[a b") ||
            strstr(json_text(cause), ".resources.requests[requests.") ||
            strstr(json_text(cause), ".resources.requests[storage]") ||
            strstr(json_text(cause), "topologyKey: Required value: can not be empty"))
            return true;
    return false;
}

/* A template in a job is rejected for the same reasons as a pod, at its own path and with the same
 * messages. */
static void pod_templates_are_rejected_like_pods(void **state)
{
    struct api *api = *state;
    const struct json *data = read_document(api, "cases.yaml");
    const struct json *recorded = json_first(read_document(api, "answers.json"));
    size_t compared = 0, different = 0;
    for (const struct json *case_ = json_first(json_get(data, "cases")); case_;
         case_ = case_->next, recorded = recorded->next) {
        const struct json *ours = json_get(case_, "ours");
        const struct json *causes = ours ? ours : json_get(recorded, "causes");
        int64_t code = ours ? 422 : json_get_int(recorded, "code", 0);
        if (!changes_only_the_spec(case_) || code != 422 || json_count(causes) == 0 ||
            applies_to_pods_only(causes))
            continue;
        struct api fresh;
        api_open(&fresh, 1);
        const struct json *base = json_at(data, "bases", "pod", NULL);
        struct json *wanted = json_object(fresh.arena);
        struct json *pod = changed(fresh.arena, base, json_get(case_, "set"));
        struct json *job = in_tfjob(&fresh, pod);
        json_set(fresh.arena, wanted, "causes", template_causes(&fresh, causes));
        json_set_int(fresh.arena, wanted, "code", 422);
        struct answer answer =
            api_post(&fresh, collection_of(&fresh, job), json_to_string(fresh.arena, job));
        bool same = compare(&fresh, json_object(fresh.arena), wanted, &answer);
        if (!same)
            print_message("cases.yaml:%u: %s\n", case_->line, json_to_string(fresh.arena, case_));
        different += !same;
        compared++;
        api_close(&fresh);
    }
    print_message("%zu templates compared\n", compared);
    assert_true(compared > 100);
    if (different)
        fail_msg("%zu of %zu answers differ", different, compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rejected_objects_get_the_causes_of_kubernetes, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(pod_templates_are_rejected_like_pods, api_setup,
                                        api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
