/* Tests the columns that `kubectl get` shows for training jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "operator/kind/training_kind.h"
#include "read_json.h"

/* One day and one second after the epoch. The objects below are created at the epoch. */
static const int64_t NOW_MS = 86401000;

#define AT_EPOCH "'creationTimestamp': '1970-01-01T00:00:00Z'"

/* Returns the cells of the object, joined by " | ". */
static char *cells_of(struct arena *arena, const struct kube_kind *kind, const char *object)
{
    const struct kube_columns *columns = kube_kind_columns(kind);
    struct json *table = kube_table_new(arena, columns, NULL, true);
    kube_table_add(arena, table, columns, read_json(arena, object), KUBE_INCLUDE_NONE, NOW_MS);
    char *text = arena_strdup(arena, "");
    JSON_EACH (cell, json_get(json_element(json_get(table, "rows"), 0), "cells"))
        text = arena_printf(arena, "%s%s%s", text, *text ? " | " : "", json_text(cell));
    return text;
}

static void columns_show_state_and_progress(void **state)
{
    static const struct {
        const struct kube_kind *kind;
        const char *object, *cells;
    } CASES[] = {
        {&TFJOB_KIND,
         "{'metadata': {'name': 'j', " AT_EPOCH "}, 'status': {'conditions': ["
         "{'type': 'Created'}, {'type': 'Running'}]}}",
         "j | Running | 24h | "},
        {&TFJOB_KIND, "{'metadata': {'name': 'j'}}", "j |  | <unknown> | "},
        {&PYTORCHJOB_KIND,
         "{'metadata': {'name': 'j', " AT_EPOCH ", 'annotations': {'trainyard.dev/progress':"
         "'step 5/9'}}, 'status': {'conditions': [{'type': 'Created'}]}}",
         "j | Created | 24h | step 5/9"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++)
        assert_string_equal(cells_of(arena, CASES[i].kind, CASES[i].object), CASES[i].cells);
}

static void every_kind_matches_its_resource(void **state)
{
    for (size_t i = 0; i < TRAINING_KIND_COUNT; i++) {
        const struct training_kind *kind = TRAINING_KINDS[i];
        assert_string_equal(kind->row->id.plural, kind->resource->plural);
        assert_string_equal(kind->row->id.group, kind->resource->group);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_show_state_and_progress),
        cmocka_unit_test(every_kind_matches_its_resource),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
