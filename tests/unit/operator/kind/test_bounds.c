/* Tests that the field tables and the operator's validation agree on the bounds and allowed values
 * of TFJob and PyTorchJob. The definitions of manifests/ come from the tables, and the validation
 * has better messages. For each bound the test tries the last value inside and the first one
 * outside. For each list of values it tries every value and a wrong one. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/schema/rules.h"
#include "kube/schema/validate.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_types.h"
#include "read_json.h"

#include <inttypes.h>
#include <stdio.h>

struct walk {
    const struct training_kind *kind;
    const struct schema_object *type;
    const char *job;  /* a job in which every field may have any value within its bounds */
    const char *path; /* path of the object that is walked, from "spec" on */
    size_t tried;
};

/* Returns the object at the path, and creates it if it is missing. */
static struct json *ensure_path(struct arena *arena, struct json *job, const char *path)
{
    size_t count;
    char **names = str_split(arena, path, '.', &count);
    for (size_t i = 0; i < count; i++)
        job = json_ensure_object(arena, job, names[i]);
    return job;
}

static void try_value(struct walk *walk, const char *name, const char *value)
{
    struct arena *arena = arena_new();
    struct json *job = read_json(arena, walk->job);
    json_set(arena, ensure_path(arena, job, walk->path), name, read_json(arena, value));
    const struct schema schema = {.type = SCHEMA_OBJECT, .object = walk->type};
    struct field_errors errors;
    struct err err = ERR_INIT;
    field_errors_init(&errors, arena);
    schema_validate_value(&errors, &schema, "", job);
    int result = training_job_validate(walk->kind, job, &err);
    if ((errors.count == 0) != (result == 0))
        fail_msg("%s %s.%s = %s: the table says %s, the operator %s", walk->kind->row->id.kind,
                 walk->path, name, value, errors.count ? "no" : "yes",
                 result < 0 ? err.message : "yes");
    walk->tried++;
    arena_free(arena);
}

static void try_bounds(struct walk *walk, const struct schema_field *field)
{
    const struct schema_rules *rules = field->value.rules;
    int64_t type_max = field->value.type == SCHEMA_INT32 ? INT32_MAX : INT64_MAX - 1;
    int64_t max = rules && rules->maximum.given ? (int64_t)rules->maximum.value : type_max;
    char text[32];
    assert_true(rules && rules->minimum.given); /* no field may be negative */
    const int64_t values[] = {(int64_t)rules->minimum.value - 1, (int64_t)rules->minimum.value, max,
                              max + 1};
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        snprintf(text, sizeof(text), "%" PRId64, values[i]);
        try_value(walk, field->name, text);
    }
}

static void try_enum(struct walk *walk, const struct schema_field *field)
{
    char text[64];
    for (const char *const *word = field->value.rules->words; *word; word++) {
        snprintf(text, sizeof(text), "'%s'", *word);
        try_value(walk, field->name, text);
    }
    try_value(walk, field->name, "'Nonsense'");
}

static void walk_object(struct walk *walk, const struct schema_object *object, const char *path)
{
    for (const struct schema_field *field = object->fields; field->name; field++) {
        char below[256];
        snprintf(below, sizeof(below), "%s.%s", path, field->name);
        walk->path = path;
        if (field->value.type == SCHEMA_INT32 || field->value.type == SCHEMA_INT64) {
            try_bounds(walk, field);
        } else if (field->value.rules && field->value.rules->words) {
            try_enum(walk, field);
        } else if (field->value.type == SCHEMA_OBJECT && !str_eq(field->name, "template")) {
            walk_object(walk, field->value.object, below);
        } else if (str_eq(field->name, walk->kind->specs)) {
            snprintf(below, sizeof(below), "%s.%s.Worker", path, field->name);
            walk_object(walk, field->value.items->object, below);
        }
    }
}

/* The job has started, so the rules between fields of a new job do not apply. */
#define JOB(specs_, container_, more_)                                                             \
    "{'metadata': {'name': 'x'}, 'status': {'startTime': '1970-01-01T00:00:00Z'}, 'spec': "        \
    "{'" specs_ "': {'Worker': {'template': {'spec': {'containers': [{'name': '" container_        \
    "', 'image': 'i'}]}}}}" more_ "}}"

static void test_tables_and_validation_have_the_same_bounds(void **state)
{
    struct walk rows[] = {
        {.kind = &TRAINING_TFJOB,
         .type = &TFJOB_TYPE,
         .job = JOB("tfReplicaSpecs", "tensorflow", "")},
        {.kind = &TRAINING_TFJOB,
         .type = &TFJOB_TYPE_V1BETA1,
         .job = JOB("tfReplicaSpecs", "tensorflow", "")},
        {.kind = &TRAINING_PYTORCHJOB,
         .type = &PYTORCHJOB_TYPE,
         .job = JOB("pytorchReplicaSpecs", "pytorch",
                    ", 'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 10000}")},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        walk_object(&rows[i], schema_field(rows[i].type, "spec")->value.object, "spec");
        assert_true(rows[i].tried > 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_and_validation_have_the_same_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
