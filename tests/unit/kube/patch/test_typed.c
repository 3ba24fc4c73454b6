/* Tests objects with the schema of their type: fields, differences, merging, removal. Most cases
 * use built-in kinds, which have all sorts of lists. Sets are written as FieldsV1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/patch/typed.h"
#include "kube/types/types.h"
#include "operator/kind/training_types.h"
#include "read_json.h"

#include <string.h>

#define COUNT(samples) (sizeof(samples) / sizeof((samples)[0]))

static const char *text_of(struct arena *arena, struct fieldset set)
{
    return json_to_string(arena, fieldset_to_json(arena, set));
}

static struct fieldset read_set(struct arena *arena, const char *text)
{
    struct fieldset set;
    assert_int_equal(fieldset_from_json(arena, read_json(arena, text), &set, NULL), 0);
    return set;
}

static void names_the_fields_of_an_object(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *object, *set;
    } SAMPLES[] = {
        {&TYPE_CONFIG_MAP, "{'kind':'ConfigMap','data':{'b':'1','a':'2'}}",
         "{'f:data':{'f:a':{},'f:b':{}},'f:kind':{}}"},
        /* an empty map and null are owned themselves */
        {&TYPE_CONFIG_MAP, "{'data':{},'binaryData':null}", "{'f:binaryData':{},'f:data':{}}"},
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['b','a']}}",
         "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{},'v:\\\"b\\\"':{}}}}"},
        /* a duplicate element */
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['a','a']}}",
         "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{}}}}"},
        {&TYPE_POD, "{'spec':{'containers':[{'name':'a','image':'x'},{'name':'a'}]}}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{}}}}"},
        /* keys, with a default for the missing key; lists that are owned as a whole */
        {&TYPE_POD,
         "{'spec':{'containers':[{'name':'m','args':['x'],'ports':[{'containerPort':80}],"
         "'resources':{}}]}}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"m\\\"}':{'.':{},'f:args':{},'f:name':{},"
         "'f:ports':{'k:{\\\"containerPort\\\":80,\\\"protocol\\\":\\\"TCP\\\"}':{'.':{},"
         "'f:containerPort':{}}},'f:resources':{}}}}}"},
        /* objects owned as a whole */
        {&TYPE_DEPLOYMENT, "{'spec':{'selector':{'matchLabels':{'a':'b'}},'replicas':1}}",
         "{'f:spec':{'f:replicas':{},'f:selector':{}}}"},
        {&TYPE_SERVICE, "{'spec':{'selector':{'a':'b'}}}", "{'f:spec':{'f:selector':{}}}"},
        /* a map of objects */
        {&TFJOB_TYPE, "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':1}}}}",
         "{'f:spec':{'f:tfReplicaSpecs':{'f:Worker':{'.':{},'f:replicas':{}}}}}"},
        /* a value of the wrong type is owned as a whole */
        {&TYPE_POD, "{'spec':{'containers':'many'}}", "{'f:spec':{'f:containers':{}}}"},
        /* unknown fields: maps have owned members, lists are owned as a whole */
        {&TYPE_POD, "{'other':{'a':{'b':1},'c':[{'d':1}]}}",
         "{'f:other':{'.':{},'f:a':{'.':{},'f:b':{}},'f:c':{}}}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(SAMPLES); i++)
        assert_string_equal(text_of(arena, typed_fields(arena, SAMPLES[i].type,
                                                        read_json(arena, SAMPLES[i].object))),
                            quoted(arena, SAMPLES[i].set));
}

static void compares_two_objects(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *old, *new_, *removed, *modified, *added;
    } SAMPLES[] = {
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1','b':'2'}}", "{'data':{'c':'3','a':'2'}}",
         "{'f:data':{'f:b':{}}}", "{'f:data':{'f:a':{}}}", "{'f:data':{'f:c':{}}}"},
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1'}}", "{'data':{'a':'1'}}", "{}", "{}", "{}"},
        /* an object that did not exist is itself new, too */
        {&TYPE_CONFIG_MAP, "{}", "{'data':{'a':'1'}}", "{}", "{}", "{'f:data':{'.':{},'f:a':{}}}"},
        {&TYPE_CONFIG_MAP, "{'data':null}", "{'data':{'a':'1'}}", "{}", "{}",
         "{'f:data':{'f:a':{}}}"},
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1'}}", "{}", "{'f:data':{'.':{},'f:a':{}}}", "{}", "{}"},
        {&TYPE_CONFIG_MAP, "{'data':{}}", "{'data':null}", "{}", "{'f:data':{}}", "{}"},
        /* elements are compared by key, in any order */
        {&TYPE_POD, "{'spec':{'containers':[{'name':'a','image':'x'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'b','image':'y'},{'name':'c'},{'name':'a','image':'z'}]}}",
         "{}", "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{'f:image':{}}}}}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"b\\\"}':{'f:image':{}},"
         "'k:{\\\"name\\\":\\\"c\\\"}':{'.':{},'f:name':{}}}}}"},
        {&TYPE_POD, "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'b'}]}}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{'.':{},'f:name':{}}}}}", "{}",
         "{}"},
        /* a missing key has its default */
        {&TYPE_SERVICE, "{'spec':{'ports':[{'port':80}]}}",
         "{'spec':{'ports':[{'port':80,'protocol':'TCP'}]}}", "{}", "{}",
         "{'f:spec':{'f:ports':{'k:{\\\"port\\\":80,\\\"protocol\\\":\\\"TCP\\\"}':"
         "{'f:protocol':{}}}}}"},
        /* sets, and fields that are owned as a whole */
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'finalizers':['b','c']}}",
         "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{}}}}", "{}",
         "{'f:metadata':{'f:finalizers':{'v:\\\"c\\\"':{}}}}"},
        {&TYPE_POD, "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[]}}", "{}",
         "{'f:spec':{'f:tolerations':{}}}", "{}"},
        /* a duplicate element before, after, or both */
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['a','a']}}",
         "{'metadata':{'finalizers':['a']}}", "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{}}}}",
         "{}", "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{}}}}"},
        {&TYPE_POD, "{'spec':{'containers':[{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'a'},{'name':'a'}]}}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{'.':{},'f:name':{}}}}}", "{}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{}}}}"},
        {&TYPE_POD, "{'spec':{'containers':[{'name':'a'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'a'},{'name':'a','image':'x'}]}}", "{}",
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{}}}}", "{}"},
        /* a map becomes a scalar, and the reverse */
        {&TYPE_POD, "{'other':{'a':1}}", "{'other':2}", "{'f:other':{'f:a':{}}}", "{'f:other':{}}",
         "{}"},
        {&TYPE_POD, "{'other':2}", "{'other':{'a':1}}", "{}", "{'f:other':{}}",
         "{'f:other':{'f:a':{}}}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(SAMPLES); i++) {
        struct typed_comparison found =
            typed_compare(arena, SAMPLES[i].type, read_json(arena, SAMPLES[i].old),
                          read_json(arena, SAMPLES[i].new_));
        assert_string_equal(text_of(arena, found.removed), quoted(arena, SAMPLES[i].removed));
        assert_string_equal(text_of(arena, found.modified), quoted(arena, SAMPLES[i].modified));
        assert_string_equal(text_of(arena, found.added), quoted(arena, SAMPLES[i].added));
    }
}

#define NAMED(...) "{'spec':{'containers':[" __VA_ARGS__ "]}}"

static void merges_by_the_schema(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *live, *config, *merged;
    } SAMPLES[] = {
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1','b':'2'}}", "{'data':{'c':'3','a':'2'}}",
         "{'data':{'a':'2','b':'2','c':'3'}}"},
        {&TYPE_POD, "{'spec':{'nodeSelector':{'a':'1'},'hostNetwork':true}}",
         "{'spec':{'nodeSelector':{'b':'2'}}}",
         "{'spec':{'nodeSelector':{'b':'2'},'hostNetwork':true}}"},
        /* null does not remove an object or a list */
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1'}}", "{'data':null}", "{'data':{'a':'1'}}"},
        {&TYPE_CONFIG_MAP, "{}", "{'data':{'a':'1'}}", "{'data':{'a':'1'}}"},
        /* elements keep their places; new ones are inserted as in the config */
        {&TYPE_POD, NAMED("{'name':'a','image':'x'},{'name':'b'}"),
         NAMED("{'name':'b','image':'y'},{'name':'c'}"),
         NAMED("{'name':'a','image':'x'},{'name':'b','image':'y'},{'name':'c'}")},
        /* the config has another order */
        {&TYPE_POD, NAMED("{'name':'a'},{'name':'b'},{'name':'x'},{'name':'c'}"),
         NAMED("{'name':'c'},{'name':'n'},{'name':'a'}"),
         NAMED("{'name':'b'},{'name':'x'},{'name':'c'},{'name':'n'},{'name':'a'}")},
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'finalizers':['n','b','a']}}", "{'metadata':{'finalizers':['n','b','a']}}"},
        /* an element with a duplicate key is replaced by the applied element */
        {&TYPE_POD, NAMED("{'name':'a','image':'x','tty':true},{'name':'a'},{'name':'b'}"),
         NAMED("{'name':'a','image':'y'}"), NAMED("{'name':'a','image':'y'},{'name':'b'}")},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(SAMPLES); i++) {
        struct json *live = read_json(arena, SAMPLES[i].live);
        struct json *config = read_json(arena, SAMPLES[i].config);
        struct json *merged = typed_merge(arena, SAMPLES[i].type, live, config);
        assert_string_equal(json_to_string(arena, merged), quoted(arena, SAMPLES[i].merged));
        assert_true(json_equal(live, read_json(arena, SAMPLES[i].live)));
        assert_true(json_equal(config, read_json(arena, SAMPLES[i].config)));
    }
}

static void removes_fields(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *object, *set, *rest;
    } SAMPLES[] = {
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1','b':'2'},'kind':'ConfigMap'}", "{'f:data':{'f:a':{}}}",
         "{'data':{'b':'2'},'kind':'ConfigMap'}"},
        {&TYPE_CONFIG_MAP, "{'data':{'a':'1'},'kind':'ConfigMap'}", "{'f:data':{'f:a':{}}}",
         "{'kind':'ConfigMap'}"},
        {&TYPE_POD, NAMED("{'name':'a'},{'name':'b','image':'x'},{'name':'c'}"),
         "{'f:spec':{'f:containers':{'k:{\\\"name\\\":\\\"a\\\"}':{},"
         "'k:{\\\"name\\\":\\\"b\\\"}':{'f:image':{}},'k:{\\\"name\\\":\\\"z\\\"}':{}}}}",
         NAMED("{'name':'b'},{'name':'c'}")},
        {&TYPE_CONFIG_MAP, "{'metadata':{'finalizers':['b','a'],'name':'x'}}",
         "{'f:metadata':{'f:finalizers':{'v:\\\"a\\\"':{}}}}",
         "{'metadata':{'finalizers':['b'],'name':'x'}}"},
        /* nothing can be removed below a field that is owned as a whole */
        {&TYPE_SERVICE, "{'spec':{'selector':{'a':'b'}}}", "{'f:spec':{'f:selector':{'f:a':{}}}}",
         "{'spec':{'selector':{'a':'b'}}}"},
        {&TYPE_SERVICE, "{'spec':{'selector':{'a':'b'}},'kind':'Service'}",
         "{'f:spec':{'f:selector':{}}}", "{'kind':'Service'}"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(SAMPLES); i++) {
        struct json *object = read_json(arena, SAMPLES[i].object);
        typed_remove(arena, SAMPLES[i].type, object, read_set(arena, SAMPLES[i].set));
        assert_string_equal(json_to_string(arena, object), quoted(arena, SAMPLES[i].rest));
    }
}

static void adds_the_parents_of_known_fields(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    struct fieldset set = read_set(
        arena, "{'f:metadata':{'f:labels':{'f:a':{}}},'f:spec':{'f:containers':{"
               "'k:{\\\"name\\\":\\\"a\\\"}':{'f:resources':{'f:limits':{'f:cpu':{}}}}}}}");
    assert_string_equal(
        text_of(arena, typed_with_parents(arena, &TYPE_POD, set)),
        quoted(arena, "{'f:metadata':{'.':{},'f:labels':{'.':{},'f:a':{}}},"
                      "'f:spec':{'.':{},'f:containers':{'.':{},"
                      "'k:{\\\"name\\\":\\\"a\\\"}':{'f:resources':{'.':{},'f:limits':{'.':{},"
                      "'f:cpu':{}}}}}}}"));
}

static void checks_applied_configs_against_the_schema(void **state)
{
    static const struct {
        const struct schema_object *type;
        const char *object, *complaint; /* NULL: no error */
    } SAMPLES[] = {
        {&TYPE_POD,
         NAMED("{'name':'a','ports':[{'containerPort':1},{'containerPort':1,"
               "'protocol':'UDP'}]}"),
         NULL},
        {&TYPE_POD, "{'spec':{'nodeName':null,'tolerations':null}}", NULL},
        {&TYPE_POD, "{'spec':{'replica':1}}", ".spec.replica: field not declared in schema"},
        {&TYPE_POD, NAMED("{'name':'a'},{'name':'a'}"),
         ".spec.containers: duplicate entries for key [name=\"a\"]"},
        {&TYPE_POD,
         NAMED("{'name':'a','ports':[{'containerPort':1},{'containerPort':1,"
               "'protocol':'TCP'}]}"),
         ".spec.containers[name=\"a\"].ports: duplicate entries for key "
         "[containerPort=1,protocol=\"TCP\"]"},
        {&TYPE_POD, NAMED("{'image':'a'}"), NULL}, /* its name is "", which is rejected elsewhere */
        {&TYPE_POD, "{'spec':{'imagePullSecrets':[{}]}}",
         ".spec.imagePullSecrets: element 0: associative list with keys has an element that omits "
         "key field \"name\" (and doesn't have default value)"},
        {&TYPE_POD, NAMED("1"),
         ".spec.containers: element 0: associative list with keys may not have non-map elements"},
        {&TYPE_POD, NAMED("null"),
         ".spec.containers: element 0: associative list with keys may not have a null element"},
        {&TYPE_POD, "{'spec':{'containers':{}}}", ".spec.containers: expected list, got {}"},
        {&TYPE_POD, "{'spec':[]}", ".spec: expected map, got []"},
        {&TYPE_POD, "{'spec':{'nodeName':1}}", ".spec.nodeName: expected string, got 1"},
        {&TYPE_POD, "{'spec':{'hostNetwork':'yes'}}",
         ".spec.hostNetwork: expected boolean, got \"yes\""},
        {&TYPE_DEPLOYMENT, "{'spec':{'replicas':'3'}}",
         ".spec.replicas: expected numeric (int or float), got \"3\""},
        {&TYPE_POD, "{'spec':{'tolerations':[{'key':1}]}}",
         ".spec.tolerations[0].key: expected string, got 1"},
        {&TYPE_POD, "{'metadata':{'finalizers':['a','a']}}",
         ".metadata.finalizers: duplicate entries for key [=\"a\"]"},
        {&TYPE_POD, "{'metadata':{'finalizers':[{}]}}",
         ".metadata.finalizers: element 0: associative list without keys has an element that's an "
         "object"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT(SAMPLES); i++) {
        struct err err = ERR_INIT;
        int r = typed_check(arena, SAMPLES[i].type, read_json(arena, SAMPLES[i].object), &err);
        assert_string_equal(err.message, SAMPLES[i].complaint ? SAMPLES[i].complaint : "");
        assert_int_equal(r < 0, SAMPLES[i].complaint != NULL);
    }
}

static void an_empty_object_has_the_zero_values_of_its_type(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    assert_string_equal(json_to_string(arena, typed_zero(arena, &TYPE_POD)),
                        "{\"metadata\":{\"creationTimestamp\":null},\"spec\":{\"containers\":null},"
                        "\"status\":{}}");
    assert_string_equal(json_to_string(arena, typed_zero(arena, &TYPE_CONFIG_MAP)),
                        "{\"metadata\":{\"creationTimestamp\":null}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_fields_of_an_object),
        cmocka_unit_test(compares_two_objects),
        cmocka_unit_test(merges_by_the_schema),
        cmocka_unit_test(removes_fields),
        cmocka_unit_test(adds_the_parents_of_known_fields),
        cmocka_unit_test(checks_applied_configs_against_the_schema),
        cmocka_unit_test(an_empty_object_has_the_zero_values_of_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
