/* Tests authorization with tables: a policy, a request, and whether it is allowed. */
#include "base/mem.h"
#include "engine/access/access.h"
#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ROLE(name, rules) "{\"metadata\":{\"name\":\"" name "\"},\"rules\":" rules "}"
#define LOCAL_ROLE(ns, name, rules)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\"},\"rules\":" rules "}"
#define BINDING(name, kind, role, subjects)                                                        \
    "{\"metadata\":{\"name\":\"" name "\"},\"roleRef\":{\"kind\":\"" kind "\",\"name\":\"" role    \
    "\"},\"subjects\":[" subjects "]}"
#define LOCAL_BINDING(ns, name, kind, role, subjects)                                              \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns "\"},\"roleRef\":{\"kind\":\"" kind \
    "\",\"name\":\"" role "\"},\"subjects\":[" subjects "]}"
#define ACCOUNT(ns, name)                                                                          \
    "{\"kind\":\"ServiceAccount\",\"name\":\"" name "\",\"namespace\":\"" ns "\"}"

static const char *const CLUSTER_ROLES[] = {
    ROLE("everything", "[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},"
                       "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]"),
    ROLE("reader", "[{\"verbs\":[\"get\",\"list\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":"
                   "[\"pods\",\"pods/log\"]}]"),
    ROLE("scaler", "[{\"verbs\":[\"update\"],\"apiGroups\":[\"*\"],\"resources\":[\"*/scale\"]}]"),
    ROLE("paths", "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/version\",\"/apis/*\"]}]"),
    "{\"metadata\":{\"name\":\"gathering\"},\"aggregationRule\":{\"clusterRoleSelectors\":[{"
    "\"matchLabels\":{\"to\":\"gathering\"}}]},\"rules\":[]}",
    "{\"metadata\":{\"name\":\"part\",\"labels\":{\"to\":\"gathering\"}},\"rules\":[{\"verbs\":["
    "\"get\"],\"apiGroups\":[\"kubeflow.org\"],\"resources\":[\"tfjobs\"]}]}",
};

static const char *const CLUSTER_BINDINGS[] = {
    BINDING("roots", "ClusterRole", "everything", "{\"kind\":\"Group\",\"name\":\"roots\"}"),
    BINDING("discover", "ClusterRole", "paths",
            "{\"kind\":\"Group\",\"name\":\"system:authenticated\"}"),
    BINDING("anna", "ClusterRole", "reader", "{\"kind\":\"User\",\"name\":\"anna\"}"),
    BINDING("scale", "ClusterRole", "scaler", "{\"kind\":\"User\",\"name\":\"anna\"}"),
    BINDING("gather", "ClusterRole", "gathering", "{\"kind\":\"User\",\"name\":\"berta\"}"),
    BINDING("lost", "ClusterRole", "gone", "{\"kind\":\"User\",\"name\":\"berta\"}"),
};

static const char *const ROLES[] = {
    LOCAL_ROLE("a", "one",
               "[{\"verbs\":[\"get\",\"update\"],\"apiGroups\":[\"\"],\"resources\":["
               "\"configmaps\"],\"resourceNames\":[\"settings\"]}]"),
    LOCAL_ROLE("a", "maker",
               "[{\"verbs\":[\"create\"],\"apiGroups\":[\"batch\"],\"resources\":[\"jobs\"]}]"),
};

static const char *const BINDINGS[] = {
    LOCAL_BINDING("a", "reader", "ClusterRole", "reader", ACCOUNT("a", "builder")),
    LOCAL_BINDING("a", "one", "Role", "one", ACCOUNT("a", "builder") "," ACCOUNT("b", "guest")),
    LOCAL_BINDING("a", "maker", "Role", "maker",
                  "{\"kind\":\"Group\",\"name\":\"system:serviceaccounts:a\"}"),
    /* A Role of another namespace is not found from here. */
    LOCAL_BINDING("b", "maker", "Role", "maker", ACCOUNT("b", "guest")),
    LOCAL_BINDING("b", "all", "ClusterRole", "everything", "{\"kind\":\"User\",\"name\":\"carl\"}"),
};

#define GROUPS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The users. */
static const struct identity
    ROOT = {.name = "r", .groups = GROUPS("roots")},
    OWNER = {.name = "o", .groups = GROUPS("system:masters")},
    ANNA = {.name = "anna", .groups = GROUPS("system:authenticated")},
    BERTA = {.name = "berta", .groups = GROUPS("system:authenticated")},
    CARL = {.name = "carl", .groups = GROUPS("system:authenticated")},
    BUILDER = {.name = "system:serviceaccount:a:builder",
               .groups = GROUPS("system:serviceaccounts", "system:serviceaccounts:a",
                                "system:authenticated")},
    GUEST = {.name = "system:serviceaccount:b:guest",
             .groups = GROUPS("system:serviceaccounts:b", "system:authenticated")},
    /* A user with the name of an account is no account: its kind differs. */
    ODD = {.name = "system:serviceaccount:a", .groups = GROUPS("system:authenticated")};

static struct access_objects read_all(const char *const *texts, size_t count)
{
    const struct json **items = ARENA_ARRAY(arena, const struct json *, count);
    for (size_t i = 0; i < count; i++)
        items[i] = tree(texts[i]);
    return (struct access_objects){items, count};
}

static struct access_policy policy(void)
{
    return (struct access_policy){
        .cluster_roles = read_all(CLUSTER_ROLES, ARRAY_SIZE(CLUSTER_ROLES)),
        .cluster_bindings = read_all(CLUSTER_BINDINGS, ARRAY_SIZE(CLUSTER_BINDINGS)),
        .roles = read_all(ROLES, ARRAY_SIZE(ROLES)),
        .bindings = read_all(BINDINGS, ARRAY_SIZE(BINDINGS)),
    };
}

static const struct {
    const struct identity *who;
    const char *verb, *group, *resource, *sub, *namespace_, *name;
    bool allowed;
} ROWS[] = {
    /* The owner, and a user with all permissions by a rule. */
    {&OWNER, "delete", "", "nodes", "", "", "n", true},
    {&ROOT, "delete", "", "nodes", "", "", "n", true},
    {&ROOT, "create", "", "pods", "exec", "x", "p", true},
    {&ROOT, "*", "*", "*", "", "", "", true},
    /* Verbs and resources match exactly. */
    {&ANNA, "get", "", "pods", "", "a", "p", true},
    {&ANNA, "list", "", "pods", "", "", "", true},
    {&ANNA, "watch", "", "pods", "", "b", "", true},
    {&ANNA, "create", "", "pods", "", "a", "", false},
    {&ANNA, "delete", "", "pods", "", "a", "p", false},
    {&ANNA, "deletecollection", "", "pods", "", "a", "", false},
    {&ANNA, "get", "", "pod", "", "a", "p", false},
    {&ANNA, "get", "apps", "pods", "", "a", "p", false},
    {&ANNA, "get", "", "pods", "log", "a", "p", true},
    {&ANNA, "get", "", "pods", "exec", "a", "p", false},
    {&ANNA, "get", "", "pods", "lo", "a", "p", false},
    {&ANNA, "get", "", "secrets", "", "a", "s", false},
    {&ANNA, "*", "", "pods", "", "a", "", false},
    {&ANNA, "get", "*", "*", "", "", "", false},
    /* One subresource of every resource. */
    {&ANNA, "update", "apps", "deployments", "scale", "a", "d", true},
    {&ANNA, "update", "", "x", "scale", "a", "d", true},
    {&ANNA, "update", "apps", "deployments", "", "a", "d", false},
    {&ANNA, "update", "apps", "deployments", "status", "a", "d", false},
    {&ANNA, "get", "apps", "deployments", "scale", "a", "d", false},
    /* A ClusterRole that is bound in one namespace is valid only there. */
    {&BUILDER, "list", "", "pods", "", "a", "", true},
    {&BUILDER, "list", "", "pods", "", "b", "", false},
    {&BUILDER, "list", "", "pods", "", "", "", false},
    {&CARL, "delete", "", "secrets", "", "b", "s", true},
    {&CARL, "delete", "", "secrets", "", "a", "s", false},
    {&CARL, "delete", "", "nodes", "", "", "n", false},
    /* A rule with resourceNames allows only these names, and never the collection. */
    {&BUILDER, "get", "", "configmaps", "", "a", "settings", true},
    {&BUILDER, "update", "", "configmaps", "", "a", "settings", true},
    {&BUILDER, "get", "", "configmaps", "", "a", "other", false},
    {&BUILDER, "get", "", "configmaps", "", "a", "", false},
    {&BUILDER, "list", "", "configmaps", "", "a", "", false},
    {&BUILDER, "delete", "", "configmaps", "", "a", "settings", false},
    {&BUILDER, "get", "", "configmaps", "", "b", "settings", false},
    /* An account of another namespace has permissions only by its own name. */
    {&GUEST, "get", "", "configmaps", "", "a", "settings", true},
    {&GUEST, "list", "", "pods", "", "a", "", false},
    {&GUEST, "create", "batch", "jobs", "", "a", "", false},
    {&GUEST, "create", "batch", "jobs", "", "b", "", false},
    {&ODD, "list", "", "pods", "", "a", "", false},
    {&ODD, "create", "batch", "jobs", "", "a", "", false},
    /* Permissions by the group of all accounts of a namespace. */
    {&BUILDER, "create", "batch", "jobs", "", "a", "", true},
    {&BUILDER, "create", "", "jobs", "", "a", "", false},
    {&BUILDER, "create", "batch", "jobs", "status", "a", "j", false},
    /* Rules that a role aggregates by label. */
    {&BERTA, "get", "kubeflow.org", "tfjobs", "", "a", "t", true},
    {&BERTA, "list", "kubeflow.org", "tfjobs", "", "a", "", false},
};

static void test_resources(void **state)
{
    const struct access_policy rules = policy();
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        const struct access_question question = {.verb = ROWS[i].verb,
                                                 .group = ROWS[i].group,
                                                 .resource = ROWS[i].resource,
                                                 .subresource = ROWS[i].sub,
                                                 .namespace_ = ROWS[i].namespace_,
                                                 .name = ROWS[i].name};
        if (access_decide(arena, &rules, ROWS[i].who, &question).allowed != ROWS[i].allowed)
            fail_msg("row %zu: %s %s", i, ROWS[i].allowed ? "not allowed:" : "allowed:",
                     access_forbidden_message(arena, ROWS[i].who, &question, ""));
    }
}

static void test_paths(void **state)
{
    const struct access_policy rules = policy();
    static const struct {
        const struct identity *who;
        const char *verb, *path;
        bool allowed;
    } rows[] = {
        {&ANNA, "get", "/version", true},   {&ANNA, "get", "/apis/apps", true},
        {&ANNA, "get", "/apis", false},     {&ANNA, "get", "/versions", false},
        {&ANNA, "post", "/version", false}, {&ANNA, "get", "/", false},
        {&ROOT, "get", "/anything", true},  {&OWNER, "get", "/anything", true},
        {&CARL, "get", "/metrics", false}, /* a role in a namespace allows no path */
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct access_question question = {.verb = rows[i].verb, .path = rows[i].path};
        if (access_decide(arena, &rules, rows[i].who, &question).allowed != rows[i].allowed)
            fail_msg("row %zu: %s %s", i, rows[i].verb, rows[i].path);
    }
}

static void test_messages(void **state)
{
    const struct access_policy rules = policy();
    struct access_question question = {.verb = "list",
                                       .group = "",
                                       .resource = "pods",
                                       .subresource = "",
                                       .namespace_ = "a",
                                       .name = ""};
    assert_string_equal(access_decide(arena, &rules, &BUILDER, &question).reason,
                        "RBAC: allowed by RoleBinding \"reader/a\" of ClusterRole \"reader\" to "
                        "ServiceAccount \"builder/a\"");
    assert_string_equal(access_decide(arena, &rules, &ANNA, &question).reason,
                        "RBAC: allowed by ClusterRoleBinding \"anna\" of ClusterRole \"reader\" to "
                        "User \"anna\"");
    assert_string_equal(access_decide(arena, &rules, &CARL, &question).reason, "");
    assert_string_equal(access_decide(arena, &rules, &BERTA, &question).reason,
                        "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found");
    assert_string_equal(access_forbidden_message(arena, &CARL, &question, ""),
                        "pods is forbidden: User \"carl\" cannot list resource \"pods\" in API "
                        "group \"\" in the namespace \"a\"");
    question = (struct access_question){.verb = "get",
                                        .group = "kubeflow.org",
                                        .resource = "tfjobs",
                                        .subresource = "status",
                                        .namespace_ = "",
                                        .name = "t"};
    assert_string_equal(
        access_forbidden_message(arena, &CARL, &question, "why"),
        "tfjobs.kubeflow.org \"t\" is forbidden: User \"carl\" cannot get resource "
        "\"tfjobs/status\" in API group \"kubeflow.org\" at the cluster scope: why");
    question = (struct access_question){.verb = "get", .path = "/metrics"};
    assert_string_equal(access_forbidden_message(arena, &CARL, &question, ""),
                        "forbidden: User \"carl\" cannot get path \"/metrics\"");
}

/* Which rules each user may grant in namespace a. */
static void test_grantable_rules(void **state)
{
    const struct access_policy rules = policy();
    static const struct {
        const struct identity *who;
        const char *rule, *missing;
    } rows[] = {
        {&OWNER, "{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}", NULL},
        {&ROOT, "{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}", NULL},
        {&ROOT, "{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x/*\"]}", NULL},
        {&BUILDER, "{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}",
         NULL},
        {&BUILDER,
         "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"resourceNames\":["
         "\"p\"]}",
         NULL},
        {&BUILDER, "{\"verbs\":[\"get\",\"delete\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}",
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"delete\"]}"},
        {&BUILDER, "{\"verbs\":[\"*\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}",
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}"},
        {&BUILDER, "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"*\"]}",
         "{APIGroups:[\"\"], Resources:[\"*\"], Verbs:[\"get\"]}"},
        {&BUILDER, "{\"verbs\":[\"get\"],\"apiGroups\":[\"*\"],\"resources\":[\"pods\"]}",
         "{APIGroups:[\"*\"], Resources:[\"pods\"], Verbs:[\"get\"]}"},
        {&BUILDER, "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}",
         "{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}"},
        {&BUILDER,
         "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
         "\"resourceNames\":[\"settings\",\"more\"]}",
         "{APIGroups:[\"\"], Resources:[\"configmaps\"], ResourceNames:[\"settings\" \"more\"], "
         "Verbs:[\"get\"]}"},
        {&BUILDER,
         "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
         "\"resourceNames\":[\"settings\"]}",
         NULL},
        {&BUILDER, "{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/apis/x\",\"/apis/*\"]}", NULL},
        {&BUILDER, "{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"*\"]}",
         "{NonResourceURLs:[\"*\"], Verbs:[\"get\"]}"},
        {&ANNA, "{\"verbs\":[\"update\"],\"apiGroups\":[\"apps\"],\"resources\":[\"a/scale\"]}",
         NULL},
        {&ANNA, "{\"verbs\":[\"update\"],\"apiGroups\":[\"apps\"],\"resources\":[\"*/scale\"]}",
         NULL},
        {&ANNA, "{\"verbs\":[\"update\"],\"apiGroups\":[\"apps\"],\"resources\":[\"a/status\"]}",
         "{APIGroups:[\"apps\"], Resources:[\"a/status\"], Verbs:[\"update\"]}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct json *given = tree(arena_printf(arena, "[%s]", rows[i].rule));
        const char *missing = access_missing_rules(arena, &rules, rows[i].who, "a", given);
        if (!str_eq(missing, rows[i].missing))
            fail_msg("row %zu: %s", i, missing ? missing : "covered");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resources, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_grantable_rules, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
