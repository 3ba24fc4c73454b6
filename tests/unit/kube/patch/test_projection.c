/* Tests picking fields of an object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/patch/projection.h"
#include "read_json.h"

static const char OBJECT[] =
    "{'metadata': {'name': 'a', 'labels': {'x.y/z': '1', 'w': '2'}, 'labelsOfOthers': 1}, "
    "'status': {'list': [{'name': 'p', 'state': {'running': {}}, 'image': 'i'}, 7, {'image': "
    "'j'}], "
    "'phase': 'Running', 'nothing': null}, 'spec': {'nodeName': 'n'}}";

static const struct {
    const char *fields[4];
    const char *expected;
} ROWS[] = {
    {{NULL}, "{}"},
    {{"metadata.name"}, "{'metadata':{'name':'a'}}"},
    {{"metadata.labels"}, "{'metadata':{'labels':{'x.y/z':'1','w':'2'}}}"},
    {{"metadata.labels.x.y/z"}, "{'metadata':{'labels':{'x.y/z':'1'}}}"},
    {{"status.list.name", "status.list.state"},
     "{'status':{'list':[{'name':'p','state':{'running':{}}},7,{}]}}"},
    {{"status.phase", "spec", "status.nothing"},
     "{'status':{'phase':'Running','nothing':null},'spec':{'nodeName':'n'}}"},
    {{"metadata", "metadata.name"},
     "{'metadata':{'name':'a','labels':{'x.y/z':'1','w':'2'},"
     "'labelsOfOthers':1}}"},
    {{"meta", "metadata.label", "status.phase.x"}, "{'metadata':{},'status':{'phase':'Running'}}"},
    {{"absent.too"}, "{}"},
};

static void selected_fields_are_copied(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        const struct json *picked =
            kube_project_fields(arena, read_json(arena, OBJECT), ROWS[i].fields);
        assert_string_equal(json_to_string(arena, picked),
                            json_to_string(arena, read_json(arena, ROWS[i].expected)));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(selected_fields_are_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
