/* Tests how a path in a container is shown to a user outside of it. */
#include "operator/reconcile/report_location.h"

#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define POD                                                                                        \
    "{'metadata':{'name':'p','namespace':'team'},'spec':{'nodeName':'a','volumes':["               \
    "{'name':'claim','persistentVolumeClaim':{'claimName':'models'}},"                             \
    "{'name':'lost','persistentVolumeClaim':{'claimName':'elsewhere'}},"                           \
    "{'name':'host','hostPath':{'path':'/srv/out/'}},{'name':'empty','emptyDir':{}}],"             \
    "'containers':[{'name':'other','volumeMounts':[{'name':'host','mountPath':'/model'}]},"        \
    "{'name':'main','volumeMounts':[{'name':'claim','mountPath':'/model/'},"                       \
    "{'name':'host','mountPath':'/model/inner'},{'name':'empty','mountPath':'/scratch'},"          \
    "{'name':'claim','mountPath':'/part','subPath':'runs/1'},{'name':'lost','mountPath':'/lost'}," \
    "{'name':'claim','mountPath':'/named','subPathExpr':'$(NAME)'},"                               \
    "{'name':'gone','mountPath':'/gone'}]}]}}"

static const struct row {
    const char *rule, *path;
    /* In a cluster, and where the nodes are this machine; NULL: not shown. */
    const char *elsewhere, *here;
} ROWS[] = {
    {"a file of a claim", "/model/face/report.html", "face/report.html in claim models",
     "/state/team/models/face/report.html"},
    {"the innermost mount counts", "/model/inner/r.html", "/srv/out/r.html on node a",
     "/srv/out/r.html"},
    {"a part of a claim", "/part/r.html", "runs/1/r.html in claim models",
     "/state/team/models/runs/1/r.html"},
    {"a claim that is not on this machine", "/lost/r.html", "r.html in claim elsewhere",
     "r.html in claim elsewhere"},
    {"a part whose name is computed in the pod", "/named/r.html", NULL, NULL},
    {"a volume that goes with the pod", "/scratch/r.html", NULL, NULL},
    {"a mount without its volume", "/gone/r.html", NULL, NULL},
    {"no volume at all", "/elsewhere/r.html", NULL, NULL},
    {"a directory whose name begins like a mount", "/models/r.html", NULL, NULL},
    {"the mount itself", "/model", NULL, NULL},
    {"not from the root", "model/r.html", NULL, NULL},
    {"out of the mount", "/model/../etc/shadow", NULL, NULL},
    {"more than text", "/model/\x1b[31m.html", NULL, NULL},
    {"nothing", NULL, NULL, NULL},
};

static const char *find_claim(void *context, struct arena *arena, const char *namespace_,
                              const char *claim)
{
    return strcmp(claim, "models") == 0
               ? arena_printf(arena, "%s/%s/%s", (const char *)context, namespace_, claim)
               : NULL;
}

static void check_location(const char *expected, const char *actual)
{
    if (expected)
        assert_string_equal(actual, expected);
    else
        assert_null(actual);
}

static void test_row(void **state)
{
    const struct row *row = *state;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = read_json(arena, POD);
    const struct training_claims claims = {.directory = find_claim, .context = (void *)"/state"};

    const struct json *spec = json_get(pod, "spec");

    check_location(row->elsewhere,
                   training_report_location(arena, NULL, pod, spec, "main", row->path));
    check_location(row->here,
                   training_report_location(arena, &claims, pod, spec, "main", row->path));
}

int main(void)
{
    struct CMUnitTest tests[sizeof(ROWS) / sizeof(ROWS[0])];
    size_t count = 0;

    for (; count < sizeof(ROWS) / sizeof(ROWS[0]); count++)
        tests[count] = (struct CMUnitTest){
            .name = ROWS[count].rule, .test_func = test_row, .initial_state = (void *)&ROWS[count]};
    return _cmocka_run_group_tests("report_place", tests, count, NULL, NULL);
}
