/* Tests templates: what is filled in, what is rejected, and generated values. */
#include "base/str.h"
#include "kube/template.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PARAMETERS                                                                                 \
    "'parameters':[{'name':'NAME','value':'job','required':true},"                                 \
    "{'name':'WORKERS','value':'2'},{'name':'BUCKET','required':true},"                            \
    "{'name':'EMPTY'}]"
#define TEMPLATE(objects, more)                                                                    \
    "{'kind':'Template','apiVersion':'v1'," PARAMETERS ",'objects':" objects more "}"

/* Returns the objects, written with ' for ", or the error. */
static const char *process_template(struct arena *arena, const char *template_, const char *values,
                                    struct err *err)
{
    struct json *list = NULL;
    const struct json *wrong = NULL;
    if (kube_template_process(arena, read_json(arena, template_), read_json(arena, values), &list,
                              &wrong, err) < 0)
        return err->message;
    char *text = json_to_string(arena, json_get(list, "items"));
    for (char *c = text; *c; c++)
        if (*c == '"')
            *c = '\'';
    return text;
}

static void test_filled_in(void **state)
{
    static const struct {
        const char *object, *expected;
    } rows[] = {
        {"{'a':'${NAME}'}", "[{'a':'job'}]"},
        {"{'a':'s3://${BUCKET}/${NAME}/x'}", "[{'a':'s3://b/job/x'}]"},
        {"{'a':'${WORKERS}','b':'${{WORKERS}}'}", "[{'a':'2','b':2}]"},
        {"{'a':[{'b':['${NAME}']}]}", "[{'a':[{'b':['job']}]}]"},
        {"{'a':'${{NAME}}'}", "[{'a':'job'}]"}, /* the value is no JSON, so it stays a string */
        {"{'a':'x${{WORKERS}}'}", "[{'a':'x${{WORKERS}}'}]"},
        {"{'a':'<${EMPTY}>'}", "[{'a':'<>'}]"},
        {"{'a':'${UNKNOWN} ${NAME'}", "[{'a':'${UNKNOWN} ${NAME'}]"},
        {"{'a':'${${NAME}}'}", "[{'a':'${job}'}]"},
        {"{'a':'$NAME','b':3,'c':null}", "[{'a':'$NAME','b':3,'c':null}]"},
        {"{'${NAME}':1}", "[{'${NAME}':1}]"}, /* names of members are not replaced */
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = ERR_INIT;
        const char *text = arena_printf(arena, TEMPLATE("[%s]", ""), rows[i].object);
        assert_string_equal(process_template(arena, text, "{'BUCKET':'b'}", &err),
                            rows[i].expected);
    }
    arena_free(arena);
}

static void test_labels(void **state)
{
    struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    assert_string_equal(
        process_template(arena, TEMPLATE("[{'kind':'Pod'}]", ",'labels':{'app':'${NAME}'}"),
                         "{'BUCKET':'b','NAME':'mine'}", &err),
        "[{'kind':'Pod','metadata':{'labels':{'app':'mine'}}}]");
    arena_free(arena);
}

static void test_refused(void **state)
{
    static const struct {
        const char *template_, *values, *message;
    } rows[] = {
        {TEMPLATE("[]", ""), "{}",
         "parameter 'BUCKET' is required and has no value: give it with --param BUCKET=VALUE"},
        {TEMPLATE("[]", ""), "{'BUCKET':'b','NAMES':'x'}",
         "the template has no parameter 'NAMES'; did you mean 'NAME'?"},
        {TEMPLATE("[3]", ""), "{'BUCKET':'b'}", "objects[0] is an integer, not an object"},
        {TEMPLATE("{}", ""), "{'BUCKET':'b'}", "the template has no list 'objects'"},
        {"{'kind':'List','apiVersion':'v1'}", "{}",
         "the object has the kind 'List' and the apiVersion 'v1', but must be a Template of 'v1' "
         "or 'template.openshift.io/v1'"},
        {"{'kind':'Template','apiVersion':'v1','objects':[],'parameters':[{}]}", "{}",
         "parameters[0] has no name"},
        {"{'kind':'Template','apiVersion':'v1','objects':[],'parameters':[{'name':"
         "'P','generate':'magic'}]}",
         "{}", "parameter 'P': unknown generator 'magic': expected 'expression'"},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = ERR_INIT;
        assert_string_equal(process_template(arena, rows[i].template_, rows[i].values, &err),
                            rows[i].message);
    }
    arena_free(arena);
}

/* The error gives the rejected value, so that a caller with the text can find its position. */
static void test_error_returns_the_rejected_value(void **state)
{
    static const struct {
        const char *template_;
        uint32_t line; /* 0: the error is about the values */
    } rows[] = {
        {"{'kind':'List',\n'apiVersion':'v1'}", 1},
        {"{'kind':'Template',\n'apiVersion':'v1',\n'objects':3}", 3},
        {"{'kind':'Template',\n'apiVersion':'v1',\n'objects':[],\n'parameters':[\n{}]}", 5},
        {"{'kind':'Template',\n'apiVersion':'v1',\n'objects':[{},\n3],\n"
         "'parameters':[{'name':'B'}]}",
         4},
        {"{'kind':'Template',\n'apiVersion':'v1',\n'objects':[]}", 0},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct json *wrong = NULL;
        struct json *list;
        assert_int_equal(kube_template_process(arena, read_json(arena, rows[i].template_),
                                               read_json(arena, "{'B':'1'}"), &list, &wrong, NULL),
                         -ERR_INVALID);
        assert_int_equal(wrong ? wrong->line : 0, rows[i].line);
    }
    arena_free(arena);
}

/* Each limit and one past it: parameters, and the length of a string that is filled in. */
static void test_limits(void **state)
{
    struct arena *arena = arena_new();
    for (size_t more = 0; more <= 1; more++) {
        const struct json *wrong = NULL;
        struct json *template_ = read_json(
                        arena,
                        "{'kind':'Template','apiVersion':'v1','parameters':[],'objects':[]}"),
                    *parameters = json_get(template_, "parameters"), *list;
        for (size_t i = 0; i < KUBE_TEMPLATE_PARAMETERS_MAX + more; i++) {
            struct json *parameter = json_object(arena);
            json_set(arena, parameter, "name", json_stringf(arena, "P%zu", i));
            json_append(parameters, parameter);
        }
        assert_int_equal(
            kube_template_process(arena, template_, json_object(arena), &list, &wrong, NULL),
            more ? -ERR_INVALID : 0);

        template_ = read_json(arena, "{'kind':'Template','apiVersion':'v1','parameters':[{'name':"
                                     "'A'}],'objects':[{'a':'${A}${A}'}]}");
        char *half = arena_alloc(arena, KUBE_TEMPLATE_VALUE_MAX);
        memset(half, 'x', KUBE_TEMPLATE_VALUE_MAX / 2 + more);
        half[KUBE_TEMPLATE_VALUE_MAX / 2 + more] = '\0';
        struct json *values = json_object(arena);
        json_set_string(arena, values, "A", half);
        assert_int_equal(kube_template_process(arena, template_, values, &list, &wrong, NULL),
                         more ? -ERR_TOO_LARGE : 0);
    }
    arena_free(arena);
}

static void test_generated(void **state)
{
    struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    const char *text, *other;
    assert_int_equal(kube_template_generate(arena, "user-[a-c]{4}\\d{2}[xyz]", &text, &err), 0);
    assert_int_equal(strlen(text), 5 + 4 + 2 + 1);
    assert_true(str_has_prefix(text, "user-"));
    assert_int_equal(strspn(text + 5, "abc"), 4);
    assert_int_equal(strspn(text + 9, "0123456789"), 2);
    assert_true(strchr("xyz", text[11]) != NULL);
    assert_int_equal(kube_template_generate(arena, "[\\w]{40}", &text, &err), 0);
    assert_int_equal(kube_template_generate(arena, "[\\w]{40}", &other, &err), 0);
    assert_string_not_equal(text, other);
    assert_int_equal(kube_template_generate(arena, "a]{2}", &text, &err), 0);
    assert_string_equal(text, "a]{2}"); /* no class begins here, so the text is literal */
    assert_int_equal(kube_template_generate(arena, "[\\A]{100}[\\a]{100}", &text, &err), 0);
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    assert_int_equal(strcspn(text, word), 100);
    assert_int_equal(strspn(text + 100, word), 100);
    static const char *const refused[] = {
        "",         "[a-z",  "[]{3}",    "[z-a]{3}", "[a]{0}", "[a]{b}",
        "[a]{256}", "[a]{2", "[\\q]{3}", "\\q",      "[a",     "[a]{99999999999999999}"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_int_equal(kube_template_generate(arena, refused[i], &text, &err), -ERR_INVALID);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filled_in), cmocka_unit_test(test_labels),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_error_returns_the_rejected_value),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_generated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
