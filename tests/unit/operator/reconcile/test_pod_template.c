/* Tests pods and services against golden files: golden/<case>.job.json is the job,
 * golden/<case>.json the list of its expected pods and services. GOLDEN names the directory. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_template.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json *read_golden(struct arena *arena, const char *name)
{
    const char *directory = getenv("GOLDEN");
    char *path = arena_printf(arena, "%s/%s", directory ? directory : "golden", name);
    struct buf text;
    struct err err = ERR_INIT;
    struct json *json;

    buf_init(&text, 1 << 20);
    if (file_read(path, &text, &err) < 0)
        fail_msg("%s", err.message);
    if (json_parse(arena, text.data, text.size, NULL, &json, &err) < 0)
        fail_msg("%s: %s", path, err.message);
    buf_release(&text);
    return json;
}

static struct json *make_all(struct arena *arena, const struct json *object)
{
    struct json *list = json_array(arena);
    struct training_job job;

    training_job_read(str_eq(json_get_string(object, "kind", ""), "TFJob") ? &TRAINING_TFJOB
                                                                           : &TRAINING_PYTORCHJOB,
                      object, &job);
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        for (int index = 0; index < job.replicas[type].replicas; index++) {
            json_append(list,
                        training_service_new(arena, &job, (enum training_replica_type)type, index));
            json_append(
                list, training_pod_new(arena, &job, (enum training_replica_type)type, index, NULL));
        }
    }
    return list;
}

static void test_golden(void **state)
{
    const char *name = *state;
    struct arena *arena = arena_new();
    struct json *job = read_golden(arena, arena_printf(arena, "%s.job.json", name));
    struct json *before = json_clone(arena, job);
    struct json *made = make_all(arena, job);
    struct json *golden = read_golden(arena, arena_printf(arena, "%s.json", name));
    struct buf text;

    buf_init(&text, 1 << 20);
    json_write_pretty(made, &text);
    if (!json_equal(made, golden))
        fail_msg("%s differs; made was:\n%s", name, text.data);
    buf_release(&text);
    assert_true(json_equal(job, before)); /* the job is only read */
    arena_free(arena);
}

int main(void)
{
    static const char *const names[] = {"single", "distributed", "pytorch", "pytorch_elastic"};
    struct CMUnitTest tests[ARRAY_SIZE(names)];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = test_golden, .initial_state = (void *)names[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
