/* Tests that OpenAPI v3 has the same content in protobuf and in JSON. The test reads protobuf with
 * its own tables, made from gnostic's OpenAPIv3.proto, so that a wrong field number in the server
 * is found. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

#include <string.h>

#define ASKED "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
#define GIVEN "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"

/* Stands for a default that is an object or a list, because the message has no field for those. */
static const char OTHER[] = "(an object or a list)";

/* ---- The messages ---------------------------------------------------------------------------- */

enum form { TEXT, FLAG, COUNT, NUMBER, YAML, MESSAGE, ENTRY };

struct type;
struct field {
    const char *name; /* NULL: an entry has its own name, and a value needs none */
    enum form form;
    bool many;
    const struct type *type;
};

struct type {
    bool value; /* the message stands for the value of its only field */
    struct field fields[40];
};

static const struct type REFERENCE = {.fields = {[1] = {"$ref", TEXT}}};
static const struct type ANY = {true, {[2] = {.form = YAML}}};
static const struct type DEFAULT = {
    true, {[1] = {.form = NUMBER}, [2] = {.form = FLAG}, [3] = {.form = TEXT}}};

#define OR_REFERENCE(type_)                                                                        \
    {                                                                                              \
        true,                                                                                      \
        {                                                                                          \
            [1] = {.form = MESSAGE, .type = &(type_)}, [2] = {                                     \
                .form = MESSAGE,                                                                   \
                .type = &REFERENCE                                                                 \
            }                                                                                      \
        }                                                                                          \
    }
#define NAMED(type_)                                                                               \
    {                                                                                              \
        .fields = { [1] = {.form = ENTRY, .type = &(type_)} }                                      \
    }
#define EXTENSIONS                                                                                 \
    {                                                                                              \
        .form = ENTRY, .type = &ANY                                                                \
    }

static const struct type SCHEMA;
static const struct type SCHEMA_OR_REFERENCE = OR_REFERENCE(SCHEMA);
static const struct type SCHEMAS = NAMED(SCHEMA_OR_REFERENCE);
/* The element type of a list or of a map. */
static const struct type ITEMS = {true, {[1] = {.form = MESSAGE, .type = &SCHEMA_OR_REFERENCE}}};
static const struct type SCHEMA = {.fields = {
                                       [1] = {"nullable", FLAG},
                                       [10] = {"multipleOf", NUMBER},
                                       [11] = {"maximum", NUMBER},
                                       [12] = {"exclusiveMaximum", FLAG},
                                       [13] = {"minimum", NUMBER},
                                       [14] = {"exclusiveMinimum", FLAG},
                                       [15] = {"maxLength", COUNT},
                                       [16] = {"minLength", COUNT},
                                       [17] = {"pattern", TEXT},
                                       [18] = {"maxItems", COUNT},
                                       [19] = {"minItems", COUNT},
                                       [20] = {"uniqueItems", FLAG},
                                       [21] = {"maxProperties", COUNT},
                                       [22] = {"minProperties", COUNT},
                                       [23] = {"required", TEXT, true},
                                       [24] = {"enum", MESSAGE, true, &ANY},
                                       [25] = {"type", TEXT},
                                       [26] = {"allOf", MESSAGE, true, &SCHEMA_OR_REFERENCE},
                                       [27] = {"oneOf", MESSAGE, true, &SCHEMA_OR_REFERENCE},
                                       [28] = {"anyOf", MESSAGE, true, &SCHEMA_OR_REFERENCE},
                                       [29] = {"not", MESSAGE, .type = &SCHEMA},
                                       [30] = {"items", MESSAGE, .type = &ITEMS},
                                       [31] = {"properties", MESSAGE, .type = &SCHEMAS},
                                       [32] = {"additionalProperties", MESSAGE, .type = &ITEMS},
                                       [33] = {"default", MESSAGE, .type = &DEFAULT},
                                       [34] = {"description", TEXT},
                                       [35] = {"format", TEXT},
                                       [36] = EXTENSIONS,
                                   }};

static const struct type MEDIA_TYPE = {
    .fields = {[1] = {"schema", MESSAGE, .type = &SCHEMA_OR_REFERENCE}}};
static const struct type MEDIA_TYPES = NAMED(MEDIA_TYPE);
static const struct type PARAMETER = {
    .fields = {[1] = {"name", TEXT},
               [2] = {"in", TEXT},
               [3] = {"description", TEXT},
               [4] = {"required", FLAG},
               [10] = {"schema", MESSAGE, .type = &SCHEMA_OR_REFERENCE}}};
static const struct type PARAMETER_OR_REFERENCE = OR_REFERENCE(PARAMETER);
static const struct type REQUEST_BODY = {
    .fields = {[1] = {"description", TEXT},
               [2] = {"content", MESSAGE, .type = &MEDIA_TYPES},
               [3] = {"required", FLAG}}};
static const struct type REQUEST_BODY_OR_REFERENCE = OR_REFERENCE(REQUEST_BODY);
static const struct type RESPONSE = {
    .fields = {[1] = {"description", TEXT}, [3] = {"content", MESSAGE, .type = &MEDIA_TYPES}}};
static const struct type RESPONSE_OR_REFERENCE = OR_REFERENCE(RESPONSE);
static const struct type RESPONSES = {
    .fields = {[2] = {.form = ENTRY, .type = &RESPONSE_OR_REFERENCE}}};
static const struct type OPERATION = {
    .fields = {[1] = {"tags", TEXT, true},
               [3] = {"description", TEXT},
               [5] = {"operationId", TEXT},
               [6] = {"parameters", MESSAGE, true, &PARAMETER_OR_REFERENCE},
               [7] = {"requestBody", MESSAGE, .type = &REQUEST_BODY_OR_REFERENCE},
               [8] = {"responses", MESSAGE, .type = &RESPONSES},
               [13] = EXTENSIONS}};
static const struct type PATH_ITEM = {
    .fields = {[4] = {"get", MESSAGE, .type = &OPERATION},
               [5] = {"put", MESSAGE, .type = &OPERATION},
               [6] = {"post", MESSAGE, .type = &OPERATION},
               [7] = {"delete", MESSAGE, .type = &OPERATION},
               [10] = {"patch", MESSAGE, .type = &OPERATION},
               [13] = {"parameters", MESSAGE, true, &PARAMETER_OR_REFERENCE}}};
static const struct type PATHS = NAMED(PATH_ITEM);
static const struct type COMPONENTS = {.fields = {[1] = {"schemas", MESSAGE, .type = &SCHEMAS}}};
static const struct type INFO = {.fields = {[1] = {"title", TEXT}, [6] = {"version", TEXT}}};
static const struct type DOCUMENT = {
    .fields = {[1] = {"openapi", TEXT},
               [2] = {"info", MESSAGE, .type = &INFO},
               [4] = {"paths", MESSAGE, .type = &PATHS},
               [5] = {"components", MESSAGE, .type = &COMPONENTS}}};

/* ---- Reading them ---------------------------------------------------------------------------- */

struct bytes {
    const char *data;
    size_t size;
};

static struct bytes take(struct bytes *from, uint64_t size)
{
    struct bytes taken = {from->data, size};
    assert_true(size <= from->size);
    from->data += size;
    from->size -= size;
    return taken;
}

static uint64_t take_varint(struct bytes *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(shift < 64);
        unsigned char byte = (unsigned char)*take(from, 1).data;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static struct json *read_message(struct arena *arena, const struct type *type, struct bytes bytes);

static struct json *read_value(struct arena *arena, const struct field *field, unsigned wire,
                               struct bytes *from)
{
    static const unsigned wires[] = {
        [TEXT] = 2, [FLAG] = 0, [COUNT] = 0, [NUMBER] = 1, [YAML] = 2, [MESSAGE] = 2, [ENTRY] = 2};
    assert_int_equal(wire, wires[field->form]);
    if (field->form == FLAG)
        return json_bool(arena, take_varint(from) != 0);
    if (field->form == COUNT)
        return json_int(arena, (int64_t)take_varint(from));
    if (field->form == NUMBER) {
        double number;
        memcpy(&number, take(from, sizeof(number)).data, sizeof(number));
        return json_real(arena, number);
    }
    struct bytes bytes = take(from, take_varint(from));
    struct json *value = NULL;
    if (field->form == TEXT)
        return json_string(arena, arena_strndup(arena, bytes.data, bytes.size));
    if (field->form == MESSAGE)
        return read_message(arena, field->type, bytes);
    assert_int_equal(json_parse(arena, bytes.data, bytes.size, NULL, &value, NULL), 0);
    return value;
}

/* Reads an entry {name 1, value 2} as a member of the object. */
static void read_entry(struct arena *arena, const struct field *field, struct json *object,
                       struct bytes *from)
{
    const struct field name = {.form = TEXT}, value = {.form = MESSAGE, .type = field->type};
    struct bytes entry = take(from, take_varint(from));
    assert_int_equal(take_varint(&entry), 1 << 3 | 2);
    const char *text = json_text(read_value(arena, &name, 2, &entry));
    assert_int_equal(take_varint(&entry), 2 << 3 | 2);
    json_set(arena, object, text, read_value(arena, &value, 2, &entry));
    assert_int_equal(entry.size, 0);
}

static struct json *read_message(struct arena *arena, const struct type *type, struct bytes bytes)
{
    struct json *object = json_object(arena);
    if (type == &DEFAULT && bytes.size == 0)
        return json_string(arena, OTHER);
    while (bytes.size > 0) {
        uint64_t head = take_varint(&bytes), number = head >> 3;
        const struct field *field = &type->fields[number];
        if (number >= ARRAY_SIZE(type->fields) || (!field->name && !field->form && !type->value))
            fail_msg("a field with the number %d", (int)number);
        if (field->form == ENTRY) {
            read_entry(arena, field, object, &bytes);
            continue;
        }
        struct json *value = read_value(arena, field, head & 7, &bytes);
        if (type->value) {
            assert_int_equal(bytes.size, 0);
            return value;
        }
        if (field->many)
            json_append(json_ensure_array(arena, object, field->name), value);
        else
            json_set(arena, object, field->name, value);
    }
    return object;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void assert_same(struct arena *arena, const char *where, const struct json *expected,
                        const struct json *read)
{
    bool nested = expected->type == JSON_OBJECT || expected->type == JSON_ARRAY;
    if (nested && str_eq(json_text(read), OTHER))
        return;
    if (!nested) {
        bool numbers = expected->type == JSON_INT && read->type == JSON_REAL;
        if (numbers ? json_number(expected, 0) != json_number(read, 0)
                    : !json_equal(expected, read))
            fail_msg("%s: %s became %s", where, json_to_string(arena, expected),
                     json_to_string(arena, read));
        return;
    }
    if (expected->type != read->type || expected->count != read->count)
        fail_msg("%s: %s became %s", where, json_to_string(arena, expected),
                 json_to_string(arena, read));
    const struct json *other = read->first;
    JSON_EACH (member, expected) {
        const struct json *found = member->name ? json_get(read, member->name) : other;
        const char *below = arena_printf(arena, "%s/%s", where, member->name ? member->name : "-");
        if (!found)
            fail_msg("%s is missing", below);
        assert_same(arena, below, member, found);
        other = other->next;
    }
}

static struct json *read_document(struct api *api, const char *path)
{
    struct answer answer = api_call(api, "GET", path, NULL, ASKED, NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, GIVEN);
    return read_message(api->arena, &DOCUMENT, (struct bytes){answer.body, answer.size});
}

static void test_every_group(void **state)
{
    struct api *api = *state;
    struct answer index = api_call(api, "GET", "/openapi/v3", NULL, ASKED, NULL);
    assert_string_equal(index.content_type, "application/json");
    size_t count = 0;
    JSON_EACH (group, json_get(index.json, "paths")) {
        /* Both forms have the same URL with the same hash. */
        const char *address = json_get_string(group, "serverRelativeURL", "");
        struct answer answer = api_get(api, address);
        assert_int_equal(answer.status, 200);
        assert_same(api->arena, group->name, answer.json, read_document(api, address));
        count++;
    }
    assert_true(count > 10);
    assert_string_equal(
        api_call(api, "GET", "/openapi/v3/api/v1", NULL, "application/json," ASKED, NULL)
            .content_type,
        "application/json");
    assert_int_equal(
        api_call(api, "GET", "/openapi/v3/api/v1", NULL, "application/yaml", NULL).status, 406);
}

/* A definition with every feature that a schema may have. */
static void test_definition(void **state)
{
    static const char definition[] =
        "{'metadata':{'name':'odds.yard.example'},'spec':{'group':'yard.example','scope':'Cluster',"
        "'names':{'plural':'odds','kind':'Odd'},'versions':[{'name':'v1','served':true,"
        "'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{"
        "'type':'object','description':'d','maxProperties':5,'minProperties':0,"
        "'required':['a'],'oneOf':[{'required':['a']},{'required':['b']}],"
        "'anyOf':[{'required':['a']}],'not':{'required':['c']},'properties':{"
        "'a':{'type':'number','multipleOf':0.5,'maximum':2.5,'exclusiveMaximum':true,'minimum':-1,"
        "'exclusiveMinimum':true,'default':1.5,'nullable':true},"
        "'b':{'type':'string','maxLength':300,'minLength':1,'pattern':'^a','format':'date',"
        "'enum':['a','b']},'h':{'type':'string','default':''},"
        "'c':{'type':'array','items':{'type':'string'},'maxItems':3,'minItems':1,"
        "'x-kubernetes-list-type':'set','default':['a']},"
        "'d':{'type':'object','additionalProperties':true,'default':{'a':1}},"
        "'e':{'type':'object','additionalProperties':{'type':'boolean','default':false}},"
        "'default':{'type':'integer','default':7},"
        "'f':{'x-kubernetes-int-or-string':true},"
        "'g':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}}}}}]}}";
    struct api *api = *state;
    struct answer answer = api_post(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                    quoted(api->arena, definition));
    if (answer.status != 201)
        fail_msg("%s", answer_message(&answer));
    answer = api_get(api, "/openapi/v3/apis/yard.example/v1");
    const struct json *read = read_document(api, "/openapi/v3/apis/yard.example/v1");
    assert_same(api->arena, "yard.example", answer.json, read);
    const struct json *spec =
        json_at(read, "components", "schemas", "example.yard.v1.Odd", "properties", "spec", NULL);
    assert_string_equal(json_get_string(json_at(spec, "properties", "d", NULL), "default", ""),
                        OTHER);
    assert_string_equal(
        json_to_string(api->arena, json_at(spec, "properties", "default", "default", NULL)), "7.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_group, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_definition, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
