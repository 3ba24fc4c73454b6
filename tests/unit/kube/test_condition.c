/* Tests setting a condition under each rule. */
#include "kube/condition.h"

#include "base/mem.h"
#include "read_json.h"

#define READY_1S                                                                                   \
    "[{'type':'A','status':'True'},{'type':'Ready','status':'True','extra':1,"                     \
    "'lastTransitionTime':'1970-01-01T00:00:01Z','reason':'R','message':'m'},"                     \
    "{'type':'Z','status':'True'}]"

static void test_set(void **state)
{
    static const struct {
        const char *label, *before;
        struct kube_condition wanted;
        unsigned rules;
        const char *after; /* NULL: the list does not change */
    } rows[] = {
        {"a new condition is appended",
         "[]",
         {"Ready", "True", "R", "m", NULL, 5000},
         0,
         "[{'type':'Ready','status':'True','lastTransitionTime':'1970-01-01T00:00:05Z',"
         "'reason':'R','message':'m'}]"},
        {"a new condition is appended also where a status would be kept",
         "[]",
         {"Ready", "True", "R", "m", "lastProbeTime", 5000},
         KUBE_CONDITION_KEEP_STATUS | KUBE_CONDITION_KEEP_REASON,
         "[{'type':'Ready','status':'True','lastProbeTime':'1970-01-01T00:00:05Z',"
         "'lastTransitionTime':'1970-01-01T00:00:05Z','reason':'R','message':'m'}]"},
        {"without times, reason and message",
         "[]",
         {"Ready", "False", NULL, NULL, NULL, -1},
         0,
         "[{'type':'Ready','status':'False'}]"},
        {"the transition time stays while the status does",
         READY_1S,
         {"Ready", "True", "S", NULL, NULL, 5000},
         0,
         "[{'type':'A','status':'True'},{'type':'Ready','status':'True','extra':1,"
         "'lastTransitionTime':'1970-01-01T00:00:01Z','reason':'S'},"
         "{'type':'Z','status':'True'}]"},
        {"another status is a transition",
         READY_1S,
         {"Ready", "False", "R", "m", NULL, 5000},
         KUBE_CONDITION_KEEP_STATUS | KUBE_CONDITION_KEEP_REASON,
         "[{'type':'A','status':'True'},{'type':'Ready','status':'False','extra':1,"
         "'lastTransitionTime':'1970-01-01T00:00:05Z','reason':'R','message':'m'},"
         "{'type':'Z','status':'True'}]"},
        {"the same status, kept",
         READY_1S,
         {"Ready", "True", "S", "n", NULL, 5000},
         KUBE_CONDITION_KEEP_STATUS,
         NULL},
        {"the same status and reason, kept",
         READY_1S,
         {"Ready", "True", "R", "n", NULL, 5000},
         KUBE_CONDITION_KEEP_REASON | KUBE_CONDITION_MOVE_LAST,
         NULL},
        {"another reason is not kept; the condition moves",
         READY_1S,
         {"Ready", "True", "S", "n", "lastUpdateTime", 5000},
         KUBE_CONDITION_KEEP_REASON | KUBE_CONDITION_MOVE_LAST,
         "[{'type':'A','status':'True'},{'type':'Z','status':'True'},"
         "{'type':'Ready','status':'True','lastUpdateTime':'1970-01-01T00:00:05Z',"
         "'lastTransitionTime':'1970-01-01T00:00:01Z','reason':'S','message':'n'}]"},
        {"the transition time is reset",
         READY_1S,
         {"Ready", "True", "R", "m", NULL, 5000},
         KUBE_CONDITION_MOVE_LAST | KUBE_CONDITION_RESET_TRANSITION,
         "[{'type':'A','status':'True'},{'type':'Z','status':'True'},"
         "{'type':'Ready','status':'True','lastTransitionTime':'1970-01-01T00:00:05Z',"
         "'reason':'R','message':'m'}]"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct arena *arena = arena_new();
        struct json *conditions = read_json(arena, rows[i].before);
        const struct json *expected =
            read_json(arena, rows[i].after ? rows[i].after : rows[i].before);
        struct json *set = kube_condition_set(arena, conditions, &rows[i].wanted, rows[i].rules);
        if (!json_equal(conditions, expected))
            fail_msg("%s: %s", rows[i].label, json_to_string(arena, conditions));
        if (set != (rows[i].after ? kube_condition_find(conditions, "Ready") : NULL))
            fail_msg("%s: the returned condition is wrong", rows[i].label);
        arena_free(arena);
    }
}

static void test_get(void **state)
{
    struct arena *arena = arena_new();
    const struct json *pod =
        read_json(arena, "{'status':{'conditions':[{'type':'Ready','status':'True'},"
                         "{'type':'Done','status':'False'},{'type':'Odd'},7]}}");
    assert_true(kube_condition_is_true(pod, "Ready"));
    assert_false(kube_condition_is_true(pod, "Done"));
    assert_false(kube_condition_is_true(pod, "Odd"));
    assert_false(kube_condition_is_true(pod, "None"));
    assert_non_null(kube_condition_get(pod, "Odd"));
    assert_null(kube_condition_get(pod, "None"));
    assert_null(kube_condition_get(NULL, "Ready"));
    assert_null(kube_condition_find(NULL, "Ready"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_get),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
