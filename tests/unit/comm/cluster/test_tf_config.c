/* Tests cluster descriptions in all their forms, and every error with its message. */
#include "base/mem.h"
#include "comm/cluster/tf_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ty_tf_config *parse(const char *text)
{
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    if (tf_config_parse(text, strlen(text), &config, &err) < 0)
        fail_msg("%s", err.message);
    return config;
}

static void the_tf_config_of_the_operator_is_parsed(void **state)
{
    struct ty_tf_config *config =
        parse("{\"cluster\":{\"chief\":[\"m-chief-0.ns.svc:2222\"],\"evaluator\":[\"m-e:1\"],"
              "\"ps\":[\"m-ps-0.ns.svc:2222\"],\"worker\":[\"m-worker-0.ns.svc:2222\","
              "\"m-worker-1.ns.svc:2223\"]},\"task\":{\"type\":\"worker\",\"index\":1},"
              "\"environment\":\"cloud\"}");
    assert_int_equal(config->count, 5);
    assert_int_equal(config->self, 2);
    assert_int_equal(config->tasks[0].role, TY_ROLE_CHIEF);
    assert_string_equal(config->tasks[2].host, "m-worker-1.ns.svc");
    assert_int_equal(config->tasks[2].port, 2223);
    assert_int_equal(ty_tf_config_count(config, TY_ROLE_WORKER), 2);
    assert_false(ty_tf_config_is_chief(config));
    assert_false(config->sparse);
    char text[TF_CONFIG_TASK_TEXT_MAX];
    tf_config_task_describe(&config->tasks[2], text);
    assert_string_equal(text, "worker 1 (m-worker-1.ns.svc:2223)");
    tf_config_task_describe(&config->tasks[0], text);
    assert_string_equal(text, "chief (m-chief-0.ns.svc:2222)");
    ty_tf_config_free(config);
}

static void a_master_is_a_chief_and_case_is_ignored(void **state)
{
    struct ty_tf_config *config = parse("{\"cluster\":{\"Master\":[\"a:1\"],\"WORKER\":[\"b:1\"]},"
                                        "\"task\":{\"type\":\"MASTER\",\"index\":\"0\"}}");
    assert_int_equal(config->self, 0);
    assert_true(ty_tf_config_is_chief(config));
    ty_tf_config_free(config);
    config = parse("{\"CLUSTER\":{\"WORKER\":[\"a:1\",\"b:1\"]},"
                   "\"TASK\":{\"TYPE\":\"WORKER\",\"INDEX\":1}}");
    assert_int_equal(config->self, 1);
    ty_tf_config_free(config);
}

static void a_single_task_of_a_role_needs_no_index(void **state)
{
    struct ty_tf_config *config = parse("{\"cluster\":{\"chief\":[\"a:1\"],\"worker\":[\"b:1\","
                                        "\"c:1\"]},\"task\":{\"type\":\"chief\"}}");
    assert_int_equal(config->self, 0);
    ty_tf_config_free(config);
}

static void worker_0_is_chief_without_a_chief(void **state)
{
    struct ty_tf_config *config = parse("{\"cluster\":{\"worker\":[\"a:1\",\"[::1]:2\"]},"
                                        "\"task\":{\"type\":\"worker\",\"index\":0}}");
    assert_true(ty_tf_config_is_chief(config));
    assert_string_equal(config->tasks[1].host, "::1");
    char text[TF_CONFIG_TASK_TEXT_MAX];
    tf_config_task_describe(&config->tasks[1], text);
    assert_string_equal(text, "worker 1 ([::1]:2)");
    ty_tf_config_free(config);
}

static void an_empty_config_means_a_single_task(void **state)
{
    static const char *const TEXTS[] = {"", "{}", "{\"cluster\":{}}", "{\"cluster\":null}",
                                        "{\"environment\":\"cloud\"}"};
    for (size_t i = 0; i < ARRAY_SIZE(TEXTS); i++) {
        struct ty_tf_config *config = parse(TEXTS[i]);
        assert_int_equal(config->count, 1);
        assert_true(ty_tf_config_is_chief(config));
        assert_int_equal(config->tasks[0].port, 0);
        ty_tf_config_free(config);
    }
}

static void an_evaluator_need_not_be_listed(void **state)
{
    struct ty_tf_config *config = parse("{\"cluster\":{\"worker\":[\"a:1\"]},"
                                        "\"task\":{\"type\":\"evaluator\",\"index\":0}}");
    assert_int_equal(config->tasks[config->self].role, TY_ROLE_EVALUATOR);
    ty_tf_config_free(config);
}

static void dynamic_workers_have_a_sparse_form(void **state)
{
    struct ty_tf_config *config =
        parse("{\"cluster\":{\"worker\":{\"3\":\"w3:1\"},\"ps\":[\"p0:1\",\"p1:1\"]},"
              "\"task\":{\"type\":\"worker\",\"index\":3}}");
    assert_true(config->sparse);
    assert_int_equal(config->tasks[config->self].index, 3);
    assert_int_equal(ty_tf_config_count(config, TY_ROLE_PS), 2);
    ty_tf_config_free(config);
    /* A server is listed only for itself, at position 0, whatever its index. */
    config = parse("{\"cluster\":{\"worker\":{},\"ps\":[\"p2:1\"]},"
                   "\"task\":{\"type\":\"ps\",\"index\":2}}");
    assert_int_equal(config->tasks[config->self].index, 2);
    assert_string_equal(config->tasks[config->self].host, "p2");
    ty_tf_config_free(config);
    config = parse("{\"sparseCluster\":{\"worker\":{\"0\":\"w:1\"},\"ps\":null},"
                   "\"task\":{\"type\":\"chief\",\"index\":0}}");
    assert_true(config->sparse);
    assert_int_equal(config->tasks[config->self].role, TY_ROLE_CHIEF);
    ty_tf_config_free(config);
}

static void errors_name_the_wrong_field(void **state)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"{", "TF_CONFIG: "},
        {"[]", "it is an array, not an object"},
        {"{\"cluster\":[1]}", "its cluster is an array"},
        {"{\"cluster\":{\"wroker\":[\"a:1\"]}}", "unknown role 'wroker'"},
        {"{\"cluster\":{\"wroker\":[\"a:1\"]}}", "did you mean 'worker'?"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]}}", "no task"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{}}", "the task has no type"},
        {"{\"cluster\":{\"worker\":[\"a:1\",\"b:1\"]},\"task\":{\"type\":\"worker\"}}",
         "the task has no index, but the cluster has 2 tasks of role worker"},
        {"{\"clusters\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":0}}",
         "unknown field 'clusters': did you mean 'cluster'?"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}",
         "task index 1 is out of range: the cluster has 1 worker, counted from 0"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":-1}}",
         "task index -1 is out of range"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":0.5}}",
         "the task's index is 0.5, but it must be an integer, 0 or greater"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":\"x\"}}",
         "the task's index is a string"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"ps\",\"index\":0}}",
         "this task is ps 0, but the cluster has no ps"},
        {"{\"cluster\":{\"worker\":[\"a:1\",\"b\"]}}",
         "worker 1: 'b' has no port: write host:port"},
        {"{\"cluster\":{\"worker\":[\"a:\"]}}", "'a:' has no port"},
        {"{\"cluster\":{\"worker\":[\":1\"]}}", "':1' has no host"},
        {"{\"cluster\":{\"worker\":[\"a:0\"]}}", "'a:0' has no valid port"},
        {"{\"cluster\":{\"worker\":[\"a:65536\"]}}", "between 1 and 65535"},
        {"{\"cluster\":{\"worker\":[\"::1:2222\"]}}", "more than one colon"},
        {"{\"cluster\":{\"worker\":[\"http://a:1\"]}}", "more than one colon"},
        {"{\"cluster\":{\"worker\":[\"a b:1\"]}}", "a host cannot contain spaces"},
        {"{\"cluster\":{\"worker\":[7]}}", "worker 0 is an integer"},
        {"{\"cluster\":{\"worker\":7}}", "the role worker is an integer"},
        {"{\"cluster\":{\"worker\":{\"x\":\"a:1\"}}}", "'x' is not a task index"},
        {"{\"cluster\":{\"chief\":[\"a:1\",\"b:1\"]},\"task\":{\"type\":\"chief\",\"index\":0}}",
         "the cluster has 2 chiefs, but the limit is 1"},
        {"{\"cluster\":{\"chief\":[\"a:1\"],\"master\":[\"b:1\"]}}", "is listed twice"},
        {"{\"cluster\":{\"worker\":[\"a:1\",\"A:1\"]},\"task\":{\"type\":\"worker\",\"index\":0}}",
         "worker 0 and worker 1 (A:1) have the same address"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct ty_tf_config *config = NULL;
        struct err err = ERR_INIT;
        if (tf_config_parse(CASES[i].text, strlen(CASES[i].text), &config, &err) == 0)
            fail_msg("'%s' was accepted", CASES[i].text);
        if (!strstr(err.message, CASES[i].says))
            fail_msg("'%s' gave '%s', not '%s'", CASES[i].text, err.message, CASES[i].says);
        assert_null(config);
    }
}

/* At the limit, and one byte past it. */
static void the_text_has_a_limit(void **state)
{
    static const char CLUSTER[] = "{\"cluster\":{\"worker\":[\"a:1\"]},"
                                  "\"task\":{\"type\":\"worker\",\"index\":0}}";
    for (size_t size = TY_CONFIG_MAX; size <= TY_CONFIG_MAX + 1; size++) {
        struct ty_tf_config *config = NULL;
        char *text = mem_alloc(size);
        memset(text, ' ', size);
        memcpy(text, CLUSTER, sizeof(CLUSTER) - 1);
        assert_int_equal(tf_config_parse(text, size, &config, NULL),
                         size > TY_CONFIG_MAX ? -ERR_TOO_LARGE : 0);
        ty_tf_config_free(config);
        free(text);
    }
}

static void the_classic_flags_are_parsed(void **state)
{
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(tf_config_from_flags("p:1", "a:1,b:2,c:3", "worker", 2, &config, &err), 0);
    assert_int_equal(config->count, 4);
    assert_string_equal(config->tasks[config->self].host, "c");
    ty_tf_config_free(config);
    assert_int_equal(tf_config_from_flags(NULL, "", NULL, 0, &config, &err), 0);
    assert_int_equal(config->count, 1);
    ty_tf_config_free(config);
    assert_true(tf_config_from_flags("", "a:1", "worker", 1, &config, &err) < 0);
    assert_non_null(strstr(err.message, "out of range"));
    assert_true(tf_config_from_flags("", "a:1,", "worker", 0, &config, &err) < 0);
    assert_non_null(strstr(err.message, "--worker_hosts: worker 1: '' has no port"));
    assert_true(tf_config_from_flags("", "a:1", "", 0, &config, &err) < 0);
    assert_non_null(strstr(err.message, "--job_name is missing"));
}

/* Reads an environment written as name, value, name, value, …, NULL. */
static const char *get_variable(void *context, const char *name)
{
    for (const char *const *pair = context; *pair; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

static void the_master_form_is_parsed(void **state)
{
    const char *environment[] = {
        "MASTER_ADDR", "job-master-0", "MASTER_PORT", "23456", "WORLD_SIZE",
        "3",           "RANK",         "2",           NULL};
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(tf_config_from_environment(get_variable, environment, &config, &err), 0);
    assert_true(config->master_form);
    assert_int_equal(config->count, 3);
    assert_int_equal(config->self, 2);
    assert_string_equal(config->tasks[0].host, "job-master-0");
    assert_int_equal(config->tasks[0].port, 23456);
    assert_int_equal(config->tasks[2].port, 0);
    ty_tf_config_free(config);

    const char *pet[] = {
        "PET_MASTER_ADDR",    "m", "PET_MASTER_PORT", "1", "PET_NNODES", "2", "PET_NODE_RANK", "0",
        "PET_NPROC_PER_NODE", "4", "WORLD_SIZE",      "8", NULL};
    assert_int_equal(tf_config_from_environment(get_variable, pet, &config, &err), 0);
    assert_int_equal(config->count, 2);
    assert_true(ty_tf_config_is_chief(config));
    ty_tf_config_free(config);
}

static void a_wrong_master_form_is_rejected(void **state)
{
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    const char *lost[][3] = {
        {"WORLD_SIZE", "3"}, {"PET_NNODES", "2"}, {"RANK", "1"}, {"PET_NODE_RANK", "1"}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tf_config_from_environment(get_variable, lost[i], &config, &err),
                         -ERR_INVALID);
        assert_non_null(strstr(err.message, "but neither MASTER_ADDR nor TF_CONFIG says"));
    }
    const char *one[] = {"WORLD_SIZE", "1", "RANK", "0", NULL};
    assert_int_equal(tf_config_from_environment(get_variable, one, &config, &err), 0);
    ty_tf_config_free(config);
    const char *no_rank[] = {"MASTER_ADDR", "m", "MASTER_PORT", "1", "WORLD_SIZE", "3", NULL};
    assert_true(tf_config_from_environment(get_variable, no_rank, &config, &err) < 0);
    assert_non_null(strstr(err.message, "neither RANK nor PET_NODE_RANK"));
    const char *rank[] = {"MASTER_ADDR", "m",    "MASTER_PORT", "1", "WORLD_SIZE",
                          "3",           "RANK", "3",           NULL};
    assert_true(tf_config_from_environment(get_variable, rank, &config, &err) < 0);
    assert_string_equal(err.message, "RANK: '3' is not between 0 and 2");
    const char *range[] = {"MASTER_ADDR", "m", "MASTER_PORT", "1", "PET_NNODES", "1:3", NULL};
    assert_true(tf_config_from_environment(get_variable, range, &config, &err) < 0);
    assert_non_null(strstr(err.message, "PET_NNODES is the range '1:3'"));
}

static void tf_config_overrides_the_master_form(void **state)
{
    const char *both[] = {"MASTER_ADDR", "m", "TF_CONFIG",
                          "{\"cluster\":{\"worker\":[\"a:1\",\"b:1\"]},"
                          "\"task\":{\"type\":\"worker\",\"index\":1}}",
                          NULL};
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(tf_config_from_environment(get_variable, both, &config, &err), 0);
    assert_int_equal(config->count, 2);
    assert_false(config->master_form);
    ty_tf_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tf_config_of_the_operator_is_parsed),
        cmocka_unit_test(a_master_is_a_chief_and_case_is_ignored),
        cmocka_unit_test(a_single_task_of_a_role_needs_no_index),
        cmocka_unit_test(worker_0_is_chief_without_a_chief),
        cmocka_unit_test(an_empty_config_means_a_single_task),
        cmocka_unit_test(an_evaluator_need_not_be_listed),
        cmocka_unit_test(dynamic_workers_have_a_sparse_form),
        cmocka_unit_test(errors_name_the_wrong_field),
        cmocka_unit_test(the_text_has_a_limit),
        cmocka_unit_test(the_classic_flags_are_parsed),
        cmocka_unit_test(the_master_form_is_parsed),
        cmocka_unit_test(a_wrong_master_form_is_rejected),
        cmocka_unit_test(tf_config_overrides_the_master_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
