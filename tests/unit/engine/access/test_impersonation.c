/* Tests impersonation: which user may impersonate, which identity results, and what is rejected. */
#include "api.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT "/api/v1/namespaces/default/"
#define RBAC    "/apis/rbac.authorization.k8s.io/v1/"
#define WHO     "/apis/authentication.k8s.io/v1/selfsubjectreviews"

enum { HEADERS_MAX = 5 };

static void ask_as(struct api *api, const char *const headers[][2])
{
    api->more = NULL;
    for (size_t i = 0; i < HEADERS_MAX && headers[i][0]; i++)
        http_header_add(api->arena, &api->more, headers[i][0], headers[i][1]);
}

static void ask_as_user(struct api *api, const char *user)
{
    const char *const headers[HEADERS_MAX][2] = {{"Impersonate-User", user}};
    ask_as(api, headers);
}

static const struct {
    const char *headers[HEADERS_MAX][2];
    const char *user;
} PEOPLE[] = {
    {{{"Impersonate-User", "ann"}}, "{\"username\":\"ann\",\"groups\":[\"system:authenticated\"]}"},
    {{{"impersonate-user", "ann"}, {"Impersonate-Group", "staff"}, {"Impersonate-Group", "ops"}},
     "{\"username\":\"ann\",\"groups\":[\"staff\",\"ops\",\"system:authenticated\"]}"},
    {{{"Impersonate-User", "ann"}, {"Impersonate-Group", "system:authenticated"}},
     "{\"username\":\"ann\",\"groups\":[\"system:authenticated\"]}"},
    {{{"Impersonate-User", "ann"}, {"Impersonate-Uid", "17"}},
     "{\"username\":\"ann\",\"uid\":\"17\",\"groups\":[\"system:authenticated\"]}"},
    {{{"Impersonate-User", "ann"},
      {"Impersonate-Extra-Example.com%2fTeam", "red"},
      {"Impersonate-Extra-example.com%2Fteam", "blue"}},
     "{\"username\":\"ann\",\"extra\":{\"example.com/team\":[\"red\",\"blue\"]},\"groups\":["
     "\"system:authenticated\"]}"},
    {{{"Impersonate-User", "system:serviceaccount:default:builder"}},
     "{\"username\":\"system:serviceaccount:default:builder\",\"groups\":[\"system:serviceaccounts"
     "\",\"system:serviceaccounts:default\",\"system:authenticated\"]}"},
    /* If groups are given, the identity has no others. */
    {{{"Impersonate-User", "system:serviceaccount:default:builder"}, {"Impersonate-Group", "x"}},
     "{\"username\":\"system:serviceaccount:default:builder\",\"groups\":[\"x\","
     "\"system:authenticated\"]}"},
    /* This is not the name of a service account, so it gets no account groups. */
    {{{"Impersonate-User", "system:serviceaccount:default"}},
     "{\"username\":\"system:serviceaccount:default\",\"groups\":[\"system:authenticated\"]}"},
};

static void test_identity(void **state)
{
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(PEOPLE); i++) {
        ask_as(api, PEOPLE[i].headers);
        struct answer answer = api_post(api, WHO, "{}");
        const struct json *user = json_at(answer.json, "status", "userInfo", NULL);
        assert_int_equal(answer.status, 201);
        assert_string_equal(json_to_string(api->arena, user), PEOPLE[i].user);
    }
}

/* The impersonated user has the permissions of its own roles, and none of the user that sent the
 * request. */
static void test_permissions(void **state)
{
    struct api *api = *state;
    assert_int_equal(api_post(api, RBAC "namespaces/default/roles",
                              "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"list\"],"
                              "\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]}")
                         .status,
                     201);
    assert_int_equal(
        api_post(api, RBAC "namespaces/default/rolebindings",
                 "{\"metadata\":{\"name\":\"r\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization."
                 "k8s.io\",\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"apiGroup\":\"rbac."
                 "authorization.k8s.io\",\"kind\":\"User\",\"name\":\"ann\"}]}")
            .status,
        201);
    ask_as_user(api, "ann");
    assert_int_equal(api_get(api, DEFAULT "configmaps").status, 200);
    struct answer answer = api_get(api, DEFAULT "secrets");
    assert_int_equal(answer.status, 403);
    assert_string_equal(answer_message(&answer),
                        "secrets is forbidden: User \"ann\" cannot list resource \"secrets\" in "
                        "API group \"\" in the namespace \"default\"");
    answer = api_get(api, "/metrics");
    assert_string_equal(answer_message(&answer),
                        "forbidden: User \"ann\" cannot get path \"/metrics\"");
    answer = api_post(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                      "{\"spec\":{\"resourceAttributes\":{\"verb\":\"list\",\"resource\":"
                      "\"configmaps\",\"namespace\":\"default\"}}}");
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "true");
    ask_as_user(api, "bob");
    assert_int_equal(api_get(api, DEFAULT "configmaps").status, 403);
}

static const struct {
    const char *headers[HEADERS_MAX][2];
    const char *message;
} REFUSED[] = {
    {{{"Impersonate-User", "bob"}},
     "users \"bob\" is forbidden: User \"system:serviceaccount:default:s\" cannot impersonate "
     "resource \"users\" in API group \"\" at the cluster scope"},
    {{{"Impersonate-User", "system:serviceaccount:default:builder"}},
     "serviceaccounts \"builder\" is forbidden: User \"system:serviceaccount:default:s\" cannot "
     "impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"default\""},
};

/* A user without the verb impersonate is rejected. */
static void test_refused(void **state)
{
    struct api *api = *state;
    assert_int_equal(
        api_post(api, DEFAULT "serviceaccounts", "{\"metadata\":{\"name\":\"s\"}}").status, 201);
    struct answer token = api_post(api, DEFAULT "serviceaccounts/s/token", "{}");
    for (size_t i = 0; i < ARRAY_SIZE(REFUSED); i++) {
        ask_as(api, REFUSED[i].headers);
        struct answer answer =
            api_call_as(api, answer_at(api, &token, "status.token"), "GET", "/version", NULL);
        assert_int_equal(answer.status, 403);
        assert_string_equal(answer_message(&answer), REFUSED[i].message);
    }
    const char *const nobody[HEADERS_MAX][2] = {{"Impersonate-Group", "staff"}};
    ask_as(api, nobody);
    assert_int_equal(api_get(api, DEFAULT "pods").status, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_identity, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_permissions, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_refused, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
