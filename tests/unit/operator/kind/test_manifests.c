/* Tests the files of manifests/ against the program that they install: our own YAML parser reads
 * them, the definitions allow exactly the fields of the operator's tables, and the roles give no
 * more permissions than documented. */
#include "operator/kind/training_job.h"

#include "base/buf.h"
#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "kube/object.h"
#include "kube/schema/compile.h"
#include "kube/schema/structural.h"
#include "kube/schema/validate.h"
#include "kube/types/types.h"
#include "operator/kind/training_types.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static struct json *load(const char *name)
{
    _cleanup_buf_ struct buf buf = {0};
    struct json *documents = NULL;
    struct err err = ERR_INIT;

    buf_init(&buf, 1 << 20);
    if (file_read(arena_printf(arena, "%s/%s", getenv("MANIFESTS"), name), &buf, &err) < 0 ||
        yaml_parse(arena, &(struct source){name, buf.data, buf.size, false}, NULL, &documents,
                   &err) < 0)
        fail_msg("%s", err.message);
    return documents;
}

static const struct json *find(const struct json *documents, const char *kind, const char *name)
{
    JSON_EACH (object, documents) {
        if (str_eq(json_get_string(object, "kind", NULL), kind) &&
            str_eq(kube_meta_name(object), name))
            return object;
    }
    fail_msg("there is no %s '%s'", kind, name);
    return NULL;
}

static const char *const FILES[] = {"install.yaml", "install-cel.yaml", "install-namespaced.yaml",
                                    "operator.yaml", "crds.yaml"};

static void test_every_object_has_a_kind_and_a_name(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
        const struct json *documents = load(FILES[i]);

        assert_true(json_count(documents) >= 2);
        JSON_EACH (object, documents) {
            assert_non_null(json_get_string(object, "apiVersion", NULL));
            assert_non_null(json_get_string(object, "kind", NULL));
            assert_false(str_is_empty(kube_meta_name(object)));
        }
    }
}

/* No object of install-namespaced.yaml applies outside of its namespace. */
static void test_namespaced_manifest_stays_in_its_namespace(void **state)
{
    JSON_EACH (object, load("install-namespaced.yaml"))
        assert_string_equal(kube_meta_namespace(object), "trainyard");
}

/* Whether the JSON has a member or a string with this name at any depth. */
static bool contains_name(const struct json *json, const char *name)
{
    if (json->name && str_eq(json->name, name))
        return true;
    if (json->type != JSON_OBJECT && json->type != JSON_ARRAY)
        return false;
    JSON_EACH (member, json) {
        if (contains_name(member, name))
            return true;
    }
    return false;
}

static void test_cel_rules_are_in_a_separate_manifest(void **state)
{
    static const char rules[] = "x-kubernetes-validations";

    assert_false(contains_name(load("install.yaml"), rules));
    assert_false(contains_name(load("crds.yaml"), rules));
    assert_true(contains_name(load("install-cel.yaml"), rules));
}

/* `kubectl apply` keeps the object in an annotation, which must fit into 262144 bytes, with room
 * for others. */
static void test_definitions_are_small(void **state)
{
    JSON_EACH (crd, load("crds.yaml"))
        assert_true(strlen(json_to_string(arena, crd)) < 200 * 1024);
}

/* ---- The definitions and the tables ---------------------------------------------------------- */

static const struct json *properties_of(const struct json *schema, const char *name)
{
    return json_at(schema, "properties", name, NULL);
}

/* Removes the descriptions. A field with the name "description" is an object, and stays. */
static void remove_descriptions(struct json *schema)
{
    const struct json *description = json_get(schema, "description");
    if (description && description->type == JSON_STRING)
        json_remove(schema, "description");
    JSON_EACH (member, schema) {
        if (member->type == JSON_OBJECT)
            remove_descriptions(member);
    }
}

static void compare_definition(const char *name, size_t version, const struct schema_object *type)
{
    const struct json *crd = find(load("crds.yaml"), "CustomResourceDefinition", name);
    const struct json *versions = json_at(crd, "spec", "versions", NULL);
    const struct json *schema =
        json_at(json_element(versions, version), "schema", "openAPIV3Schema", NULL);
    struct json *ours = json_clone(arena, properties_of(schema, "spec"));
    const struct json *wanted = schema_structural(arena, &schema_field(type, "spec")->value);

    remove_descriptions(ours);
    JSON_EACH (field, json_get(wanted, "properties")) {
        const struct json *is = properties_of(ours, field->name);
        if (!is || !json_equal(is, field))
            fail_msg("%s: spec.%s is not what src/kube/types says; make pod-template.schema with "
                     "'build/tests/unit/operator/crd-template', then run tools/manifests\n%s\n%s",
                     name, field->name, is ? json_to_string(arena, is) : "-",
                     json_to_string(arena, field));
    }
    assert_true(json_equal(ours, wanted));
}

/* Another API server rejects the same jobs as this one, because both use the same tables. The older
 * version has all fields of the newer one. */
static void test_definitions_match_the_tables(void **state)
{
    compare_definition("tfjobs.kubeflow.org", 1, &TFJOB_TYPE_V1BETA1);
    compare_definition("pytorchjobs.kubeflow.org", 0, &PYTORCHJOB_TYPE);
}

/* Nothing is converted between the versions, because they have the same fields. v1beta1 has its own
 * default, which is stored if a job is written in v1beta1. */
static void test_versions_differ_only_in_a_default(void **state)
{
    struct json *crd = json_clone(
        arena, find(load("crds.yaml"), "CustomResourceDefinition", "tfjobs.kubeflow.org"));
    struct json *versions = json_at(crd, "spec", "versions", NULL);
    struct json *schemas[2];

    for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
        schemas[i] = json_at(json_element(versions, i), "schema", "openAPIV3Schema", NULL);
        remove_descriptions(schemas[i]);
    }
    struct json *clean =
        json_at(schemas[1], "properties", "spec", "properties", "cleanPodPolicy", NULL);
    assert_string_equal(json_get_string(clean, "default", ""), "Running");
    json_remove(clean, "default");
    assert_true(json_equal(schemas[0], schemas[1]));
}

/* The schema made from the tables accepts and rejects the same jobs as the tables. */
static void test_schema_rejects_the_same_jobs_as_the_tables(void **state)
{
    static const struct {
        const char *container, *field; /* NULL: accepted */
    } rows[] = {
        {"{'name': 'tensorflow', 'command': ['sleep', '2']}", NULL},
        {"{'name': 'tensorflow', 'command': ['sleep', 2]}", "command[1]"},
        {"{'name': 'tensorflow', 'env': [{'name': 'A', 'value': 1}]}", "env[0].value"},
        {"{'name': 'tensorflow', 'resources': {'limits': {'cpu': 'x'}}}", "resources.limits.cpu"},
        {"{'name': 'tensorflow', 'resources': {'limits': {'cpu': 1, 'memory': '1Gi'}}}", NULL},
        {"{'name': 'tensorflow', 'ports': [{}]}", "ports[0].containerPort"},
        {"{'image': 'i'}", "name"},
    };
    const struct json *crd =
        find(load("crds.yaml"), "CustomResourceDefinition", "tfjobs.kubeflow.org");
    const struct schema *compiled =
        schema_compile(arena, json_at(json_at(crd, "spec", "versions", NULL)->first, "schema",
                                      "openAPIV3Schema", NULL));
    const struct schema built_in = {.type = SCHEMA_OBJECT, .object = &TFJOB_TYPE};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct schema *const schemas[] = {compiled, &built_in};
        struct json *job = read_json(
            arena, quoted(arena, arena_printf(arena,
                                              "{'metadata': {'name': 'x'}, 'spec': "
                                              "{'tfReplicaSpecs': {'Worker': {'template': {'spec': "
                                              "{'containers': [%s]}}}}}}",
                                              rows[i].container)));
        for (size_t j = 0; j < ARRAY_SIZE(schemas); j++) {
            struct field_errors errors;
            field_errors_init(&errors, arena);
            schema_validate_value(&errors, schemas[j], "", job);
            if (!rows[i].field) {
                assert_int_equal(errors.count, 0);
                continue;
            }
            assert_int_equal(errors.count, 1);
            assert_string_equal(
                errors.first->field,
                arena_printf(arena, "spec.tfReplicaSpecs.Worker.template.spec.containers[0].%s",
                             rows[i].field));
        }
    }
}

static bool contains_text(const struct json *array, const char *text)
{
    JSON_EACH (item, array) {
        if (str_eq(json_text(item), text))
            return true;
    }
    return false;
}

static void check_definition(const char *file, const struct training_kind *kind)
{
    const struct json *crd =
        find(load(file), "CustomResourceDefinition",
             arena_printf(arena, "%s.%s", kind->resource->plural, kind->resource->group));
    const struct json *spec = json_get(crd, "spec");
    const struct json *version = json_get(spec, "versions")->first;
    const struct json *fields;

    assert_string_equal(json_get_string(spec, "group", NULL), kind->resource->group);
    assert_string_equal(json_get_string(json_get(spec, "names"), "kind", NULL),
                        kind->resource->kind);
    assert_string_equal(json_get_string(version, "name", NULL), kind->resource->version);
    assert_true(json_get_bool(version, "storage", false));

    fields =
        json_at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", NULL);
    const struct json *replica =
        json_at(fields, kind->specs, "additionalProperties", "properties", NULL);
    const struct json *policies = json_at(replica, "restartPolicy", "enum", NULL);
    assert_int_equal(json_count(policies), 5);
    JSON_EACH (item, policies) {
        enum training_restart_policy parsed;
        assert_true(str_is_empty(json_text(item)) ||
                    training_restart_policy_parse(json_text(item), &parsed));
    }

    const struct json *policy = json_at(fields, "runPolicy", "properties", NULL);
    assert_int_equal(json_count(json_at(policy, "cleanPodPolicy", "enum", NULL)), 3);
    JSON_EACH (item, json_at(policy, "cleanPodPolicy", "enum", NULL)) {
        enum training_clean_policy parsed;
        assert_true(training_clean_policy_parse(json_text(item), &parsed));
    }
    assert_true(contains_text(json_at(policy, "managedBy", "enum", NULL), TRAINING_MANAGER));
}

static void test_definition_values_are_parsed_by_the_operator(void **state)
{
    static const char *const files[] = {"install.yaml", "install-cel.yaml", "crds.yaml"};

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        check_definition(files[i], &TRAINING_TFJOB);
        check_definition(files[i], &TRAINING_PYTORCHJOB);
    }
}

/* There is no conversion: a field that the older version has in the spec must also exist in the
 * newer version. */
static void test_older_version_has_no_extra_fields(void **state)
{
    static const char *const moved[] = {"cleanPodPolicy", "ttlSecondsAfterFinished",
                                        "activeDeadlineSeconds", "backoffLimit"};
    const struct json *crd =
        find(load("crds.yaml"), "CustomResourceDefinition", "tfjobs.kubeflow.org");
    const struct json *versions = json_at(crd, "spec", "versions", NULL);

    assert_int_equal(json_count(versions), 2);
    const struct json *fields = json_at(versions->first, "schema", "openAPIV3Schema", "properties",
                                        "spec", "properties", NULL);
    for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
        assert_string_equal(
            json_to_string(arena, json_get(fields, moved[i])),
            json_to_string(arena, json_at(fields, "runPolicy", "properties", moved[i], NULL)));
}

static void test_roles_have_no_wildcards_or_secrets(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(FILES); i++) {
        JSON_EACH (object, load(FILES[i])) {
            JSON_EACH (rule, json_get(object, "rules")) {
                assert_false(contains_text(json_get(rule, "apiGroups"), "*"));
                assert_false(contains_text(json_get(rule, "verbs"), "*"));
                JSON_EACH (resource, json_get(rule, "resources")) {
                    const char *name = json_text(resource);
                    assert_null(strchr(name, '*'));
                    assert_false(str_has_prefix(name, "secrets") ||
                                 str_has_prefix(name, "configmaps") ||
                                 str_has_prefix(name, "nodes") || str_has_prefix(name, "pods/"));
                }
            }
        }
    }
}

static void test_both_scopes_have_the_same_rules(void **state)
{
    const struct json *all = find(load("install.yaml"), "ClusterRole", "trainyard-operator");
    const struct json *own = find(load("install-namespaced.yaml"), "Role", "trainyard-operator");

    assert_string_equal(json_to_string(arena, json_get(all, "rules")),
                        json_to_string(arena, json_get(own, "rules")));
}

static void test_image_has_this_version(void **state)
{
    const struct json *deployment = find(load("install.yaml"), "Deployment", "trainyard-operator");
    const struct json *container =
        json_at(deployment, "spec", "template", "spec", "containers", NULL)->first;

    assert_string_equal(json_get_string(container, "image", NULL),
                        "trainyard/operator:" TRAINYARD_VERSION);
}

static int setup(void **state)
{
    arena = arena_new();
    return 0;
}

static int teardown(void **state)
{
    arena_free(arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_object_has_a_kind_and_a_name),
        TEST(test_namespaced_manifest_stays_in_its_namespace),
        TEST(test_cel_rules_are_in_a_separate_manifest),
        TEST(test_definitions_are_small),
        TEST(test_definitions_match_the_tables),
        TEST(test_versions_differ_only_in_a_default),
        TEST(test_schema_rejects_the_same_jobs_as_the_tables),
        TEST(test_definition_values_are_parsed_by_the_operator),
        TEST(test_older_version_has_no_extra_fields),
        TEST(test_roles_have_no_wildcards_or_secrets),
        TEST(test_both_scopes_have_the_same_rules),
        TEST(test_image_has_this_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
