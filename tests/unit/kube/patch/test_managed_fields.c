/* Tests the managedFields after writes other than apply. Entries are written as "manager operation
 * version[/subresource] time fields". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "kube/patch/managed_fields.h"
#include "kube/types/types.h"
#include "operator/kind/training_types.h"
#include "read_json.h"

#include <string.h>

static struct managed_write update_by(const char *manager, int64_t second)
{
    return (struct managed_write){.type = &TYPE_CONFIG_MAP,
                                  .manager = manager,
                                  .api_version = "v1",
                                  .subresource = "",
                                  .now_ms = second * 1000};
}

static const char *entries_of(struct arena *arena, const struct json *object)
{
    const char *text = "";
    JSON_EACH (entry, json_at(object, "metadata", "managedFields", NULL)) {
        const char *subresource = json_get_string(entry, "subresource", "");
        text = arena_printf(
            arena, "%s%s %s %s%s%s %s %s\n", text, json_get_string(entry, "manager", "-"),
            json_get_string(entry, "operation", "-"), json_get_string(entry, "apiVersion", "-"),
            *subresource ? "/" : "", subresource, json_get_string(entry, "time", "-"),
            json_to_string(arena, json_get(entry, "fieldsV1")));
    }
    return text;
}

static void check_entries(struct arena *arena, const struct json *object, const char *expected)
{
    assert_string_equal(entries_of(arena, object), quoted(arena, expected));
}

/* Returns the object after the write. `old` NULL: the write creates it. */
static struct json *written(struct arena *arena, struct managed_write write, const struct json *old,
                            const char *text)
{
    struct json *object = read_json(arena, text);
    managed_fields_track(arena, &write, old, object);
    return object;
}

#define AT(second) "1970-01-01T00:00:" second "Z"

static void the_creator_owns_the_fields_of_a_new_object(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    struct json *map = written(arena, update_by("kubectl", 1), NULL,
                               "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                               "'namespace':'b','uid':'c','creationTimestamp':'t','labels':"
                               "{'x':'y'},'generateName':'g'},'data':{'k':'v'}}");
    check_entries(
        arena, map,
        "kubectl Update v1 " AT("01") " {'f:data':{'.':{},'f:k':{}},"
                                      "'f:metadata':{'f:generateName':{},'f:labels':{'.':{},"
                                      "'f:x':{}}}}\n");
    assert_string_equal(
        json_to_string(arena, json_element(json_at(map, "metadata", "managedFields", NULL), 0)),
        "{\"manager\":\"kubectl\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"" AT(
            "01") "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\".\":{},\"f:k\":{}},"
                  "\"f:metadata\":{\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:x\":{}}}}}");
    /* Fields that only the server sets have no manager. */
    map = written(arena, update_by("kubectl", 1), NULL, "{'kind':'x','metadata':{'name':'a'}}");
    assert_null(json_at(map, "metadata", "managedFields", NULL));
    /* A built-in type has fields with a zero value that the client did not set; a custom type has
     * not. */
    struct managed_write write = update_by("m", 1);
    write.type = &TYPE_POD;
    check_entries(arena, written(arena, write, NULL, "{'spec':{'containers':[],'nodeName':'n'}}"),
                  "m Update v1 " AT("01") " {'f:spec':{'f:containers':{},'f:nodeName':{}}}\n");
    write.type = &TFJOB_TYPE;
    write.custom = true;
    check_entries(arena, written(arena, write, NULL, "{'spec':{'successPolicy':'n'}}"),
                  "m Update v1 " AT("01") " {'f:spec':{'.':{},'f:successPolicy':{}}}\n");
}

static void a_changed_field_gets_a_new_owner(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    struct json *one = written(arena, update_by("a", 1), NULL, "{'data':{'x':'1','y':'1'}}");
    struct json *two = written(arena, update_by("b", 2), one, "{'data':{'x':'1','y':'2','z':'2'}}");
    check_entries(
        arena, two,
        "a Update v1 " AT("01") " {'f:data':{'.':{},'f:x':{}}}\n"
                                "b Update v1 " AT("02") " {'f:data':{'f:y':{},'f:z':{}}}\n");
    /* A manager that only removes fields owns nothing, and no time changes. */
    struct json *three = written(arena, update_by("c", 3), two, "{'data':{'x':'1','y':'2'}}");
    check_entries(arena, three,
                  "a Update v1 " AT("01") " {'f:data':{'.':{},'f:x':{}}}\n"
                                          "b Update v1 " AT("02") " {'f:data':{'f:y':{}}}\n");
    /* A write without a change gives the same bytes. */
    struct json *four = json_clone(arena, three);
    struct managed_write write = update_by("c", 4);
    managed_fields_track(arena, &write, three, four);
    assert_string_equal(json_to_string(arena, four), json_to_string(arena, three));
    /* An entry without fields is removed. */
    struct json *five = written(arena, update_by("a", 5), four, "{'data':{'x':'5','y':'5'}}");
    check_entries(arena, five, "a Update v1 " AT("05") " {'f:data':{'.':{},'f:x':{},'f:y':{}}}\n");
    /* Another version or another subresource gets its own entry. */
    write = update_by("a", 6);
    write.api_version = "v2";
    struct json *six = written(arena, write, five, "{'data':{'x':'6','y':'5'}}");
    write.subresource = "status";
    struct json *seven = written(arena, write, six, "{'data':{'x':'6','y':'7'}}");
    check_entries(
        arena, seven,
        "a Update v1 " AT("05") " {'f:data':{}}\n"
                                "a Update v2 " AT("06") " {'f:data':{'f:x':{}}}\n"
                                                        "a Update v2/status " AT(
                                                            "06") " {'f:data':{'f:y':{}}}\n");
}

#define OWNED                                                                                      \
    "{'metadata':{'managedFields':[{'manager':'o','operation':'Update','apiVersion':'v1',"         \
    "'time':'1970-01-01T00:00:01Z','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:x':{}}}}]},"   \
    "'data':{'x':'1'}}"

static void clients_may_write_managed_fields(void **state)
{
    static const struct {
        const char *list, *entries;
    } SAMPLES[] = {
        {"[{'manager':'n','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1',"
         "'fieldsV1':{'f:data':{'f:x':{}}}}]",
         "n Apply v1 - {'f:data':{'f:x':{}}}\n"},
        /* an empty list removes all entries */
        {"[]", ""},
        {"[{}]", ""},
        /* null and invalid values are ignored */
        {"null", "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"'x'", "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[1]", "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[{'manager':'n','operation':'Steal','apiVersion':'v1','fieldsType':'FieldsV1',"
         "'fieldsV1':{'f:data':{}}}]",
         "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[{'manager':'n','operation':'Apply','fieldsType':'FieldsV1','fieldsV1':{'f:a':{}}}]",
         "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[{'manager':'n','operation':'Apply','apiVersion':'v1','fieldsV1':{'f:a':{}}}]",
         "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[{'manager':'n','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1',"
         "'time':'noon','fieldsV1':{'f:a':{}}}]",
         "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
        {"[{'manager':'n','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1',"
         "'fieldsV1':{'a':{}}}]",
         "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    (void)state;
    struct json *old = read_json(arena, OWNED);
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++) {
        const char *text = arena_printf(arena, "{'metadata':{'managedFields':%s},'data':{'x':'1'}}",
                                        SAMPLES[i].list);
        check_entries(arena, written(arena, update_by("w", 9), old, text), SAMPLES[i].entries);
        /* not through a subresource */
        struct managed_write write = update_by("w", 9);
        write.subresource = "status";
        check_entries(arena, written(arena, write, old, text),
                      "o Update v1 " AT("01") " {'f:data':{'f:x':{}}}\n");
    }
    /* An object without managedFields stays without them. */
    old = read_json(arena, "{'data':{'x':'1'}}");
    check_entries(arena, written(arena, update_by("w", 9), old, "{'data':{'x':'2'}}"), "");
}

static void the_oldest_update_entries_are_merged(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *map = written(arena, update_by("m0", 1), NULL, "{'data':{'k0':'0'}}");
    (void)state;
    for (int i = 1; i < 12; i++) {
        struct json *next = json_clone(arena, map);
        json_set_string(arena, json_get(next, "data"), arena_printf(arena, "k%d", i), "0");
        struct managed_write write = update_by(arena_printf(arena, "m%d", i), 1 + i);
        managed_fields_track(arena, &write, map, next);
        map = next;
        size_t count = json_count(json_at(map, "metadata", "managedFields", NULL));
        assert_int_equal(count, i < MANAGED_UPDATERS_MAX ? i + 1 : MANAGED_UPDATERS_MAX);
    }
    const char *entries = entries_of(arena, map);
    assert_true(str_has_prefix(
        entries, quoted(arena, "ancient-changes Update v1 " AT("03") " {'f:data':{'.':{},'f:k0':{},"
                                                                     "'f:k1':{},'f:k2':{}}}\n"
                                                                     "m3 Update v1 " AT("04"))));
}

static void a_scale_moves_one_field_to_its_manager(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *object = read_json(arena, OWNED);
    struct managed_write write = update_by("s", 9);
    (void)state;
    write.subresource = "scale";
    managed_fields_move(arena, &write, object, (const char *const[]){"data", "x", NULL});
    check_entries(arena, object, "s Update v1/scale - {'f:data':{'f:x':{}}}\n");
}

static void a_manager_is_named_after_the_user_agent(void **state)
{
    static const struct {
        const char *agent, *name;
    } SAMPLES[] = {
        {"kubectl/v1.20.2 (linux/amd64)", "kubectl"},
        {"curl", "curl"},
        {"/x", "unknown"},
        {"", "unknown"},
        {NULL, "unknown"},
        {"a\x01\x7f"
         "b\xff/1",
         "ab"},
        {"m\xc3\xbcller/2", "m\xc3\xbcller"},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char longest[200];
    (void)state;
    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(SAMPLES[0]); i++)
        assert_string_equal(managed_fields_name(arena, SAMPLES[i].agent), SAMPLES[i].name);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(strlen(managed_fields_name(arena, longest)), MANAGED_NAME_MAX);
    /* A character that does not fit ends the name. */
    memcpy(longest + MANAGED_NAME_MAX - 1, "\xc3\xbc", 2);
    assert_int_equal(strlen(managed_fields_name(arena, longest)), MANAGED_NAME_MAX - 1);
}

/* At the limit, and one past it. */
static void entries_have_a_limit(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *list = json_array(arena);
    struct managed_fields managed;
    for (size_t i = 0; i < MANAGED_ENTRIES_MAX; i++)
        json_append(list, json_object(arena));
    struct err err = ERR_INIT;
    (void)managed_fields_read(arena, list, &managed, &err);
    assert_null(strstr(err.message, "more than 500 entries"));
    json_append(list, json_object(arena));
    assert_int_equal(managed_fields_read(arena, list, &managed, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "managedFields has more than 500 entries");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_creator_owns_the_fields_of_a_new_object),
        cmocka_unit_test(a_changed_field_gets_a_new_owner),
        cmocka_unit_test(clients_may_write_managed_fields),
        cmocka_unit_test(the_oldest_update_entries_are_merged),
        cmocka_unit_test(a_scale_moves_one_field_to_its_manager),
        cmocka_unit_test(a_manager_is_named_after_the_user_agent),
        cmocka_unit_test(entries_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
