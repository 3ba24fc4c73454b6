/* Tests strategic merge patches: the examples of the Kubernetes documentation ("Update API Objects
 * in Place Using kubectl patch", "Strategic Merge Patch" in the API conventions) and the patches of
 * kubectl apply. Results are compared as text, because the order of elements matters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/system/file.h"
#include "kube/patch/patch.h"
#include "kube/types/types.h"
#include "read_json.h"

#include <string.h>

struct sample {
    const char *current, *patch, *result;
};

static void check(const struct schema_object *type, const struct sample *samples, size_t count)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        struct json *current = read_json(arena, samples[i].current), *result = NULL;
        struct json *patch = read_json(arena, samples[i].patch);
        struct json *before = json_clone(arena, current), *patch_before = json_clone(arena, patch);
        struct err err = ERR_INIT;
        if (kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, current, patch, type, &result, &err) < 0)
            fail_msg("%s: %s", samples[i].patch, err.message);
        const char *expected = json_to_string(arena, read_json(arena, samples[i].result));
        if (strcmp(json_to_string(arena, result), expected) != 0)
            fail_msg("%s with %s:\n%s", samples[i].current, samples[i].patch,
                     json_to_string(arena, result));
        assert_true(json_equal(current, before));
        assert_true(json_equal(patch, patch_before));
    }
}
#define CHECK(type, samples) check(type, samples, sizeof(samples) / sizeof((samples)[0]))

static void merges_lists_by_their_key(void **state)
{
    static const struct sample SAMPLES[] = {
        /* A new container comes before a container that the patch does not name. */
        {"{'spec':{'containers':[{'name':'patch-demo-ctr','image':'nginx'}]}}",
         "{'spec':{'containers':[{'name':'patch-demo-ctr-2','image':'redis'}]}}",
         "{'spec':{'containers':[{'name':'patch-demo-ctr-2','image':'redis'},"
         "{'name':'patch-demo-ctr','image':'nginx'}]}}"},
        {"{'spec':{'containers':[{'name':'a','image':'x','env':[{'name':'E','value':'1'}]},"
         "{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'a','image':'y','env':[{'name':'F','value':'2'}]}]}}",
         "{'spec':{'containers':[{'name':'a','image':'y','env':[{'name':'F','value':'2'},"
         "{'name':'E','value':'1'}]},{'name':'b'}]}}"},
        {"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'http'},"
         "{'containerPort':90}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':90,'name':'x'}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'name':'http'},"
         "{'containerPort':90,'name':'x'}]}]}}"},
        {"{'spec':{'containers':[{'name':'a','volumeMounts':[{'mountPath':'/d','name':'v'}]}]}}",
         "{'spec':{'containers':[{'name':'a','volumeMounts':[{'mountPath':'/d','name':'w'}]}]}}",
         "{'spec':{'containers':[{'name':'a','volumeMounts':[{'mountPath':'/d','name':'w'}]}]}}"},
        /* Tolerations, commands and other lists without a merge key are replaced as a whole. */
        {"{'spec':{'tolerations':[{'key':'disktype','value':'ssd'}]}}",
         "{'spec':{'tolerations':[{'key':'dedicated','value':'test-team'}]}}",
         "{'spec':{'tolerations':[{'key':'dedicated','value':'test-team'}]}}"},
        {"{'spec':{'containers':[{'name':'a','command':['x','y']}]}}",
         "{'spec':{'containers':[{'name':'a','command':['z']}]}}",
         "{'spec':{'containers':[{'name':'a','command':['z']}]}}"},
        /* The list did not exist; nulls and directives are not stored in it. */
        {"{'spec':{}}",
         "{'spec':{'containers':[{'name':'a','image':null},{'name':'b','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'a'}]}}"},
        {"{'status':{'conditions':[{'type':'Ready','status':'False','reason':'r'}]}}",
         "{'status':{'conditions':[{'type':'Ready','status':'True','reason':null}]}}",
         "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}"},
        {"{'metadata':{'ownerReferences':[{'uid':'1','name':'a'}],'finalizers':['x']}}",
         "{'metadata':{'ownerReferences':[{'uid':'2','name':'b'}],'finalizers':['y','x']}}",
         "{'metadata':{'ownerReferences':[{'uid':'2','name':'b'},{'uid':'1','name':'a'}],"
         "'finalizers':['y','x']}}"},
        {"{'metadata':{'labels':{'a':'1','b':'2'}}}", "{'metadata':{'labels':{'a':null,'c':'3'}}}",
         "{'metadata':{'labels':{'b':'2','c':'3'}}}"},
        /* A value of another type replaces the old value. */
        {"{'spec':{'containers':'odd','x':1}}", "{'spec':{'containers':[],'x':{'y':1}}}",
         "{'spec':{'containers':[],'x':{'y':1}}}"},
    };
    CHECK(&TYPE_POD, SAMPLES);
}

static void applies_directives(void **state)
{
    static const struct sample SAMPLES[] = {
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'a','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'b'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'c'},{'$patch':'replace'}]}}",
         "{'spec':{'containers':[{'name':'c'}]}}"},
        {"{'spec':{'a':1,'b':{'c':2}}}", "{'spec':{'$patch':'replace','d':3,'e':null}}",
         "{'spec':{'d':3}}"},
        {"{'spec':{'a':1}}", "{'spec':{'$patch':'delete'}}", "{'spec':{}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b','x']}}",
         "{'metadata':{'finalizers':['a','c']}}"},
        {"{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b']}}",
         "{'metadata':{}}"},
        {"{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
         "{'spec':{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v',"
         "'hostPath':{'path':'/x'}}]}}",
         "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}"},
    };
    CHECK(&TYPE_POD, SAMPLES);
}

static void puts_elements_in_order(void **state)
{
    static const struct sample SAMPLES[] = {
        /* kubectl apply sends this when an image changes. */
        {"{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'1'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'a'},{'name':'b'}],"
         "'containers':[{'name':'b','image':'2'}]}}",
         "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}}"},
        /* A new container, last in the order; the injected sidecar stays where it was. */
        {"{'spec':{'containers':[{'name':'side'},{'name':'a'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'a'},{'name':'n'}],"
         "'containers':[{'name':'n'}]}}",
         "{'spec':{'containers':[{'name':'side'},{'name':'a'},{'name':'n'}]}}"},
        /* Only the order changes. */
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'b'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'c'},{'name':'b'},{'name':'a'}]}}"},
        /* One container is removed; the order names the others. */
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'a'}],"
         "'containers':[{'name':'b','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'c'},{'name':'a'}]}}"},
        {"{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'$setElementOrder/finalizers':['c','b'],'finalizers':['c'],"
         "'$deleteFromPrimitiveList/finalizers':['a']}}",
         "{'metadata':{'finalizers':['c','b']}}"},
        {"{'spec':{}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
         "'containers':[{'name':'b'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}"},
        {"{'spec':{}}", "{'spec':{'$setElementOrder/containers':[{'name':'b'}]}}", "{'spec':{}}"},
    };
    CHECK(&TYPE_POD, SAMPLES);
}

static void merges_other_types_than_pods(void **state)
{
    static const struct sample SERVICES[] = {
        {"{'spec':{'ports':[{'port':80,'name':'a'},{'port':81,'name':'b'}]}}",
         "{'spec':{'ports':[{'port':81,'targetPort':9}]}}",
         "{'spec':{'ports':[{'port':80,'name':'a'},{'port':81,'name':'b','targetPort':9}]}}"},
    };
    CHECK(&TYPE_SERVICE, SERVICES);
    static const struct sample NODES[] = {
        {"{'spec':{'taints':[{'key':'a'}]},'status':{'addresses':[{'type':'Hostname'}]}}",
         "{'spec':{'taints':[{'key':'b'}]},'status':{'addresses':[{'type':'InternalIP'}]}}",
         "{'spec':{'taints':[{'key':'b'}]},"
         "'status':{'addresses':[{'type':'InternalIP'},{'type':'Hostname'}]}}"},
    };
    CHECK(&TYPE_NODE, NODES);
    static const struct sample TEMPLATES[] = {
        {"{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'1'}]}}}}",
         "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'2'}]}}}}",
         "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'2'}]}}}}"},
    };
    CHECK(&TYPE_JOB, TEMPLATES);
    static const struct sample MAPS[] = {
        {"{'data':{'a':'1'}}", "{'data':{'b':'2'}}", "{'data':{'a':'1','b':'2'}}"}};
    CHECK(&TYPE_CONFIG_MAP, MAPS);
}

/* Random pods and patches, with the results of `kubectl patch --local` of version 1.32. Patches
 * that contradict themselves, and new elements with directives inside, are left out, because
 * Kubernetes leaves those directives in the object. */
static void agrees_with_kubectl(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    struct json *cases = NULL;
    struct err err = ERR_INIT;
    buf_init(&text, 16 << 20);
    if (file_read(TEST_DATA "/strategic_patches.json", &text, &err) < 0 ||
        json_parse(arena, text.data, text.size, NULL, &cases, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(json_count(cases) >= 50);
    JSON_EACH (item, cases) {
        const struct json *expected = json_get(item, "result");
        const struct json *patch = json_get(item, "patch");
        struct json *result = NULL;
        int code = kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, json_get(item, "current"), patch,
                                    &TYPE_POD, &result, &err);
        if (code < 0)
            fail_msg("%s: %d %s", json_to_string(arena, patch), code, err.message);
        if (!json_equal(result, expected))
            fail_msg("%s:\n%s\n%s", json_to_string(arena, patch), json_to_string(arena, result),
                     json_to_string(arena, expected));
    }
}

static void rejects_invalid_patches(void **state)
{
    static const struct {
        const char *patch;
        enum err_code code;
    } CASES[] = {
        {"{'spec':{'containers':[{'image':'x'}]}}", ERR_INVALID},
        {"{'spec':{'containers':['x']}}", ERR_INVALID},
        {"{'spec':{'containers':[{'$patch':'delete'}]}}", ERR_INVALID},
        {"{'spec':{'containers':[{'name':'a','$patch':'merge'}]}}", ERR_BAD_REQUEST},
        {"{'spec':{'containers':[{'name':'a','$patch':5}]}}", ERR_BAD_REQUEST},
        {"{'spec':{'$patch':'keep'}}", ERR_BAD_REQUEST},
        {"{'spec':{'$retainKeys':'x'}}", ERR_BAD_REQUEST},
        {"{'spec':{'$retainKeys':['a'],'b':1}}", ERR_BAD_REQUEST},
        {"{'spec':{'$setElementOrder/containers':5}}", ERR_BAD_REQUEST},
        {"{'spec':{'$setElementOrder/containers':['a']}}", ERR_INVALID},
        {"{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
         "'containers':[{'name':'a'},{'name':'b'}]}}",
         ERR_INVALID},
        {"{'spec':{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'a'}]}}",
         ERR_INVALID},
        {"{'metadata':{'$deleteFromPrimitiveList/finalizers':5}}", ERR_BAD_REQUEST},
        {"{'metadata':{'finalizers':[{}]}}", ERR_INVALID},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *current =
        read_json(arena, "{'metadata':{},'spec':{'containers':[{'name':'a','image':'x'}]}}");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct json *result = NULL;
        if (kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, current, read_json(arena, CASES[i].patch),
                             &TYPE_POD, &result, NULL) != -(int)CASES[i].code)
            fail_msg("%s", CASES[i].patch);
        assert_null(result);
    }
    struct json *result = NULL;
    assert_int_equal(kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, current, read_json(arena, "{}"),
                                      NULL, &result, NULL),
                     -ERR_MEDIA_TYPE);
}

static struct json *named_elements(struct arena *arena, size_t count)
{
    struct json *list = json_array(arena);
    for (size_t i = 0; i < count; i++) {
        struct json *element = json_object(arena);
        json_set(arena, element, "name", json_stringf(arena, "%zu", i));
        json_append(list, element);
    }
    return list;
}

static struct json *texts(struct arena *arena, size_t count)
{
    struct json *list = json_array(arena);
    for (size_t i = 0; i < count; i++)
        json_append(list, json_stringf(arena, "%zu", i));
    return list;
}

/* Each limit and one past it: elements of lists, and directives of an object. */
static void limits_hold_at_the_last_one(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t more = 0; more <= 1; more++) {
        struct json *list = named_elements(arena, KUBE_PATCH_ELEMENTS_MAX + more), *result;
        struct json *names = texts(arena, KUBE_PATCH_DIRECTIVES_MAX + more);
        const struct {
            const char *current, *patch, *at; /* path in the patch where the list is put */
            struct json *list;
        } ROWS[] = {
            {"{}", "{'spec':{}}", "containers", list},
            {"{'spec':{'containers':[]}}", "{'spec':{}}", "$setElementOrder/containers", list},
            {"{'spec':{'x':['0']}}", "{'spec':{}}", "$deleteFromPrimitiveList/x",
             texts(arena, KUBE_PATCH_ELEMENTS_MAX + more)},
            {"{'spec':{'x':1}}", "{'spec':{}}", "$retainKeys", names},
        };
        for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
            struct json *patch = read_json(arena, ROWS[i].patch);
            json_set(arena, json_get(patch, "spec"), ROWS[i].at, json_clone(arena, ROWS[i].list));
            int code =
                kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, read_json(arena, ROWS[i].current),
                                 patch, &TYPE_POD, &result, NULL);
            if (code != (more ? -ERR_TOO_LARGE : 0))
                fail_msg("%s with %zu more: %d", ROWS[i].at, more, code);
        }
        struct json *patch = json_object(arena);
        for (size_t i = 0; i < KUBE_PATCH_DIRECTIVES_MAX + more; i++)
            json_set(arena, patch, arena_printf(arena, "$setElementOrder/%zu", i),
                     json_array(arena));
        assert_int_equal(kube_patch_apply(arena, KUBE_PATCH_STRATEGIC, json_object(arena), patch,
                                          &TYPE_POD, &result, NULL),
                         more ? -ERR_TOO_LARGE : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_lists_by_their_key),
        cmocka_unit_test(applies_directives),
        cmocka_unit_test(puts_elements_in_order),
        cmocka_unit_test(merges_other_types_than_pods),
        cmocka_unit_test(agrees_with_kubectl),
        cmocka_unit_test(rejects_invalid_patches),
        cmocka_unit_test(limits_hold_at_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
