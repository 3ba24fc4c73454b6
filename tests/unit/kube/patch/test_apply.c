/* Tests server-side apply step by step. Each row is one write: its manager, its operation, and the
 * result. tests/unit/engine/api/test_apply.c compares whole scenarios with the answers of a real
 * server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "kube/patch/apply.h"
#include "kube/types/types.h"
#include "read_json.h"

#include <string.h>

struct step {
    const char *manager;
    enum { APPLY, FORCE, UPDATE } how;
    const char *text;
    const char *object;  /* the result without metadata; NULL: the write fails */
    const char *message; /* the error, or the owners as "a:APPLIED_FIELDS b:…" */
};

static struct managed_write write_by(const struct schema_object *type, const char *manager)
{
    return (struct managed_write){
        .type = type, .manager = manager, .api_version = "v1", .subresource = "", .now_ms = 1000};
}

static const char *owners(struct arena *arena, const struct json *object)
{
    const char *text = "";
    JSON_EACH (entry, json_at(object, "metadata", "managedFields", NULL))
        text = arena_printf(arena, "%s%s%s%c:%s", text, *text ? " " : "",
                            json_get_string(entry, "manager", ""),
                            json_get_string(entry, "operation", "?")[0],
                            json_to_string(arena, json_get(entry, "fieldsV1")));
    return text;
}

static void run(const struct schema_object *type, const struct step *steps, size_t count)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *live = NULL;
    for (size_t i = 0; i < count; i++) {
        struct managed_write write = write_by(type, steps[i].manager);
        struct json *sent = read_json(arena, steps[i].text), *result = NULL;
        struct apply_conflicts conflicts = {0};
        struct err err = ERR_INIT;
        if (steps[i].how == UPDATE) {
            managed_fields_track(arena, &write, live, sent);
            result = sent;
        } else if (apply_config(arena, &write, live, sent, steps[i].how == FORCE, &result,
                                &conflicts, &err) < 0) {
            if (steps[i].object)
                fail_msg("step %zu: %s", i, err.message);
            assert_string_equal(conflicts.message ? conflicts.message : err.message,
                                quoted(arena, steps[i].message));
            continue;
        }
        if (!steps[i].object)
            fail_msg("step %zu was taken", i);
        struct json *shown = json_clone(arena, result);
        json_remove(shown, "metadata");
        assert_string_equal(json_to_string(arena, shown), quoted(arena, steps[i].object));
        if (steps[i].message)
            assert_string_equal(owners(arena, result), quoted(arena, steps[i].message));
        live = result;
    }
}
#define RUN(type, steps) run(type, steps, sizeof(steps) / sizeof((steps)[0]))

static void two_managers_share_fields_and_conflict(void **state)
{
    static const struct step STEPS[] = {
        {"a", APPLY, "{'data':{'x':'1','y':'1'}}", "{'data':{'x':'1','y':'1'}}",
         "aA:{'f:data':{'f:x':{},'f:y':{}}}"},
        {"b", APPLY, "{'data':{'y':'1','z':'1'}}", "{'data':{'x':'1','y':'1','z':'1'}}",
         "aA:{'f:data':{'f:x':{},'f:y':{}}} bA:{'f:data':{'f:y':{},'f:z':{}}}"},
        {"b", APPLY, "{'data':{'x':'2'}}", NULL,
         "Apply failed with 1 conflict: conflict with 'a': .data.x"},
        /* A field that one manager drops stays if another manager owns it. */
        {"b", FORCE, "{'data':{'x':'2'}}", "{'data':{'x':'2','y':'1'}}",
         "aA:{'f:data':{'f:y':{}}} bA:{'f:data':{'f:x':{}}}"},
        {"a", APPLY, "{'data':{'x':'1'}}", NULL,
         "Apply failed with 1 conflict: conflict with 'b': .data.x"},
        {"a", APPLY, "{'data':{'x':'2'}}", "{'data':{'x':'2'}}",
         "aA:{'f:data':{'f:x':{}}} bA:{'f:data':{'f:x':{}}}"},
        {"b", APPLY, "{'metadata':{'labels':{'l':'1'}}}", "{'data':{'x':'2'}}",
         "aA:{'f:data':{'f:x':{}}} bA:{'f:metadata':{'f:labels':{'f:l':{}}}}"},
        /* The last owner of a field removes it. */
        {"a", APPLY, "{'kind':'ConfigMap'}", "{'kind':'ConfigMap'}",
         "bA:{'f:metadata':{'f:labels':{'f:l':{}}}}"},
    };
    (void)state;
    RUN(&TYPE_CONFIG_MAP, STEPS);
}

static void updates_own_fields_and_cause_conflicts(void **state)
{
    static const struct step STEPS[] = {
        {"u", UPDATE, "{'data':{'x':'1','y':'1'}}", "{'data':{'x':'1','y':'1'}}",
         "uU:{'f:data':{'.':{},'f:x':{},'f:y':{}}}"},
        {"a", APPLY, "{'data':{'x':'2','y':'2'}}", NULL,
         "Apply failed with 2 conflicts: conflicts with 'u' using v1:\n- .data.x\n- .data.y"},
        {"a", APPLY, "{'data':{'x':'1'}}", "{'data':{'x':'1','y':'1'}}",
         "aA:{'f:data':{'f:x':{}}} uU:{'f:data':{'.':{},'f:x':{},'f:y':{}}}"},
        {"a", APPLY, "{'data':{'x':'2'}}", NULL,
         "Apply failed with 1 conflict: conflict with 'u' using v1: .data.x"},
        {"a", FORCE, "{'data':{'x':'2'}}", "{'data':{'x':'2','y':'1'}}",
         "aA:{'f:data':{'f:x':{}}} uU:{'f:data':{'.':{},'f:y':{}}}"},
    };
    (void)state;
    RUN(&TYPE_CONFIG_MAP, STEPS);
}

#define CONTAINERS(...) "{'spec':{'containers':[" __VA_ARGS__ "]}}"

static void elements_are_added_and_removed_by_their_owners(void **state)
{
    static const struct step STEPS[] = {
        {"a", APPLY, CONTAINERS("{'name':'x','image':'1'},{'name':'y'}"),
         "{'spec':{'containers':[{'name':'x','image':'1'},{'name':'y'}]},'status':{}}", NULL},
        {"b", APPLY, CONTAINERS("{'name':'y','image':'2'},{'name':'z'}"),
         "{'spec':{'containers':[{'name':'x','image':'1'},{'name':'y','image':'2'},{'name':'z'}]},"
         "'status':{}}",
         NULL},
        /* Manager b still owns y. */
        {"a", APPLY, CONTAINERS("{'name':'x'}"),
         "{'spec':{'containers':[{'name':'x'},{'name':'y','image':'2'},{'name':'z'}]},'status':{}}",
         NULL},
        {"b", APPLY, CONTAINERS("{'name':'z','args':['1','2']}"),
         "{'spec':{'containers':[{'name':'x'},{'name':'z','args':['1','2']}]},'status':{}}", NULL},
        /* A list that has one owner as a whole. */
        {"a", APPLY, CONTAINERS("{'name':'x'},{'name':'z','args':['1']}"), NULL,
         "Apply failed with 1 conflict: conflict with 'b': .spec.containers[name='z'].args"},
    };
    (void)state;
    RUN(&TYPE_POD, STEPS);
}

static void an_element_is_removed_with_fields_of_other_managers(void **state)
{
    static const struct step STEPS[] = {
        {"a", APPLY, CONTAINERS("{'name':'x'},{'name':'y'}"),
         "{'spec':{'containers':[{'name':'x'},{'name':'y'}]},'status':{}}", NULL},
        {"u", UPDATE,
         "{'metadata':{},'spec':{'containers':[{'name':'x'},{'name':'y','image':'u'}]},'status':{}"
         "}",
         "{'spec':{'containers':[{'name':'x'},{'name':'y','image':'u'}]},'status':{}}", NULL},
        {"a", APPLY, CONTAINERS("{'name':'x'}"),
         "{'spec':{'containers':[{'name':'x'}]},'status':{}}",
         "aA:{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"x\\\"}':{'.':{},'f:name':{}}}}}"},
    };
    (void)state;
    RUN(&TYPE_POD, STEPS);
}

static void add_owner(struct arena *arena, struct managed_fields *managed, const char *manager,
                      const char *fields)
{
    struct managed_write write = write_by(NULL, manager);
    if (fields)
        assert_int_equal(
            fieldset_from_json(arena, read_json(arena, fields),
                               &managed_fields_add(arena, managed, &write, true)->fields, NULL),
            0);
}

#define IN_X(...) "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"x\\\"}':{" __VA_ARGS__ "}}}}"

/* Fields without an owner are defaults of the server. */
static void fields_without_owner_stay_unless_their_parent_goes(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *live, *mine, *theirs, *config, *result;
    } SAMPLES[] = {
        /* The element stays because another manager owns it, and so does a field in it without an
         * owner. */
        {&TYPE_POD, "{'spec':{'containers':[{'name':'x','image':'i','tty':true}]}}",
         IN_X("'.':{},'f:image':{},'f:name':{}"), IN_X("'.':{},'f:name':{}"),
         "{'spec':{'nodeName':'n'}}",
         "{'spec':{'containers':[{'name':'x','tty':true}],'nodeName':'n'}}"},
        /* No manager owns a field of the strategy any more. */
        {&TYPE_DEPLOYMENT,
         "{'spec':{'replicas':1,'strategy':{'type':'T','rollingUpdate':{'maxSurge':2}}}}",
         "{'f:spec':{'f:strategy':{'f:rollingUpdate':{'f:maxSurge':{}}}}}", NULL,
         "{'spec':{'paused':true}}", "{'spec':{'replicas':1,'paused':true}}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        struct managed_write write = write_by(SAMPLES[i].type, "me");
        struct json *live = read_json(arena, SAMPLES[i].live), *result;
        struct apply_conflicts conflicts = {0};
        struct managed_fields managed = {0};
        add_owner(arena, &managed, "me", SAMPLES[i].mine);
        add_owner(arena, &managed, "them", SAMPLES[i].theirs);
        managed_fields_put(arena, &managed, live);
        assert_int_equal(apply_config(arena, &write, live, read_json(arena, SAMPLES[i].config),
                                      false, &result, &conflicts, NULL),
                         0);
        json_remove(result, "metadata");
        assert_string_equal(json_to_string(arena, result), quoted(arena, SAMPLES[i].result));
    }
}

static void conflicts_are_grouped_by_manager(void **state)
{
    static const struct step STEPS[] = {
        {"b", UPDATE, "{'data':{'x':'1'}}", "{'data':{'x':'1'}}", NULL},
        {"z", APPLY, "{'data':{'y':'1'}}", "{'data':{'x':'1','y':'1'}}", NULL},
        {"a", APPLY, "{'data':{'x':'2','y':'2'}}", NULL,
         "Apply failed with 2 conflicts: conflicts with 'b' using v1:\n- .data.x\n"
         "conflicts with 'z':\n- .data.y"},
    };
    (void)state;
    RUN(&TYPE_CONFIG_MAP, STEPS);
}

static void unmanaged_fields_belong_to_before_first_apply(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct managed_write write = write_by(&TYPE_CONFIG_MAP, "a");
    struct json *live = read_json(arena, "{'metadata':{'name':'n'},'data':{'x':'1','y':'1'}}");
    struct apply_conflicts conflicts = {0};
    struct json *result;
    (void)state;
    assert_int_equal(apply_config(arena, &write, live, read_json(arena, "{'data':{'x':'2'}}"),
                                  false, &result, &conflicts, NULL),
                     -ERR_CONFLICT);
    assert_string_equal(conflicts.message, "Apply failed with 1 conflict: conflict with "
                                           "\"before-first-apply\" using v1: .data.x");
    assert_string_equal(json_to_string(arena, conflicts.causes),
                        "[{\"reason\":\"FieldManagerConflict\",\"message\":\"conflict with "
                        "\\\"before-first-apply\\\" using v1\",\"field\":\".data.x\"}]");
    assert_int_equal(apply_config(arena, &write, live, read_json(arena, "{'data':{'x':'1'}}"),
                                  false, &result, &conflicts, NULL),
                     0);
    assert_string_equal(owners(arena, result),
                        quoted(arena, "aA:{'f:data':{'f:x':{}}} before-first-applyU:{'f:data':"
                                      "{'.':{},'f:x':{},'f:y':{}}}"));
}

static void kubectl_migrates_from_last_applied_configuration(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct managed_write update = write_by(&TYPE_CONFIG_MAP, "kubectl-client-side-apply");
    struct managed_write write = write_by(&TYPE_CONFIG_MAP, "kubectl");
    struct json *live = read_json(
        arena, "{'metadata':{'annotations':{'kubectl.kubernetes.io/last-applied-configuration':"
               "'{\\\"apiVersion\\\":\\\"v1\\\",\\\"data\\\":{\\\"x\\\":\\\"1\\\"}}'}},"
               "'data':{'x':'1','y':'1'}}");
    struct apply_conflicts conflicts = {0};
    struct json *result;
    (void)state;
    managed_fields_track(arena, &update, NULL, live);
    /* A field that kubectl's annotation has is no conflict. */
    struct json *config = read_json(arena, "{'apiVersion':'v1','data':{'x':'2'}}");
    assert_int_equal(apply_config(arena, &write, live, config, false, &result, &conflicts, NULL),
                     0);
    assert_string_equal(json_get_string(json_at(result, "metadata", "annotations", NULL),
                                        "kubectl.kubernetes.io/last-applied-configuration", ""),
                        "{\"apiVersion\":\"v1\",\"data\":{\"x\":\"2\"}}\n");
    /* A field that the annotation does not have is a conflict. */
    config = read_json(arena, "{'apiVersion':'v1','data':{'x':'2','y':'2'}}");
    assert_int_equal(apply_config(arena, &write, live, config, false, &result, &conflicts, NULL),
                     -ERR_CONFLICT);
    assert_string_equal(conflicts.message, "Apply failed with 1 conflict: conflict with "
                                           "\"kubectl-client-side-apply\" using v1: .data.y");
    /* A field that was changed since is a conflict. */
    struct json *changed = json_clone(arena, live);
    json_set_string(arena, json_get(changed, "data"), "x", "changed");
    config = read_json(arena, "{'apiVersion':'v1','data':{'x':'2'}}");
    assert_int_equal(apply_config(arena, &write, changed, config, false, &result, &conflicts, NULL),
                     -ERR_CONFLICT);
    config = read_json(arena, "{'apiVersion':'v1','data':{'x':'2','y':'2'}}");
    /* For another manager both are conflicts. */
    write.manager = "me";
    assert_int_equal(apply_config(arena, &write, live, config, false, &result, &conflicts, NULL),
                     -ERR_CONFLICT);
    assert_int_equal(json_count(conflicts.causes), 2);
}

static void only_the_status_is_applied_through_the_status(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct managed_write write = write_by(&TYPE_POD, "a");
    struct apply_conflicts conflicts = {0};
    struct json *result, *again;
    (void)state;
    write.scope = MANAGED_ALL_BUT_STATUS;
    struct json *config =
        read_json(arena, "{'spec':{'nodeName':'n'},'status':{'phase':'Running'}}");
    assert_int_equal(apply_config(arena, &write, NULL, config, false, &result, &conflicts, NULL),
                     0);
    assert_string_equal(owners(arena, result), quoted(arena, "aA:{'f:spec':{'f:nodeName':{}}}"));
    write.scope = MANAGED_STATUS;
    write.subresource = "status";
    config = read_json(arena, "{'spec':{'nodeName':'m'},'status':{'phase':'Failed'}}");
    assert_int_equal(apply_config(arena, &write, result, config, false, &again, &conflicts, NULL),
                     0);
    assert_string_equal(
        owners(arena, again),
        quoted(arena, "aA:{'f:spec':{'f:nodeName':{}}} aA:{'f:status':{'f:phase':{}}}"));
}

static void an_unknown_field_cannot_be_applied(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct managed_write write = write_by(&TYPE_POD, "a");
    struct apply_conflicts conflicts = {0};
    struct err err = ERR_INIT;
    struct json *result;
    (void)state;
    assert_int_equal(
        apply_config(arena, &write, NULL,
                     read_json(arena, "{'kind':'Pod','metadata':{'name':'p','namespace':'d'},"
                                      "'spec':{'colour':1}}"),
                     false, &result, &conflicts, &err),
        -ERR_UNKNOWN);
    assert_string_equal(err.message, "failed to create typed patch object (d/p; /v1, Kind=Pod): "
                                     ".spec.colour: field not declared in schema");
}

static void applying_the_same_config_changes_nothing(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct managed_write write = write_by(&TYPE_CONFIG_MAP, "a");
    struct apply_conflicts conflicts = {0};
    struct json *config = read_json(arena, "{'data':{'x':'1'}}"), *one, *two;
    (void)state;
    assert_int_equal(apply_config(arena, &write, NULL, config, false, &one, &conflicts, NULL), 0);
    write.now_ms = 9000;
    assert_int_equal(apply_config(arena, &write, one, config, false, &two, &conflicts, NULL), 0);
    assert_string_equal(json_to_string(arena, one), json_to_string(arena, two));
    /* Another manager that applies the same config gets an entry without a time. */
    write.manager = "b";
    assert_int_equal(apply_config(arena, &write, one, config, false, &two, &conflicts, NULL), 0);
    const struct json *entries = json_at(two, "metadata", "managedFields", NULL);
    assert_string_equal(json_get_string(json_element(entries, 0), "manager", ""), "b");
    assert_null(json_get(json_element(entries, 0), "time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_managers_share_fields_and_conflict),
        cmocka_unit_test(updates_own_fields_and_cause_conflicts),
        cmocka_unit_test(elements_are_added_and_removed_by_their_owners),
        cmocka_unit_test(an_element_is_removed_with_fields_of_other_managers),
        cmocka_unit_test(fields_without_owner_stay_unless_their_parent_goes),
        cmocka_unit_test(conflicts_are_grouped_by_manager),
        cmocka_unit_test(unmanaged_fields_belong_to_before_first_apply),
        cmocka_unit_test(kubectl_migrates_from_last_applied_configuration),
        cmocka_unit_test(only_the_status_is_applied_through_the_status),
        cmocka_unit_test(an_unknown_field_cannot_be_applied),
        cmocka_unit_test(applying_the_same_config_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
