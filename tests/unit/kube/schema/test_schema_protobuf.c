/* Tests that protobuf bodies become the same trees as their JSON, and that invalid protobuf is
 * rejected. */
#include "test_arena.h"

#include "base/json/json.h"
#include "base/str.h"
#include "kube/kinds/kinds.h"
#include "kube/schema/protobuf.h"
#include "kube/types/types.h"

#include <string.h>

/* The body that kubectl sends for `create namespace team`: the envelope, the type, and the object
 * with the empty fields that Go writes. */
static const char NAMESPACE_BODY[] = "k8s\0"
                                     "\x0a\x0f"                 /* typeMeta, 15 bytes */
                                     "\x0a\x02v1"               /* apiVersion */
                                     "\x12\x09Namespace"        /* kind */
                                     "\x12\x1a"                 /* raw, 26 bytes */
                                     "\x0a\x14"                 /* metadata, 20 bytes */
                                     "\x0a\x04team"             /* name */
                                     "\x12\x00"                 /* generateName "" */
                                     "\x1a\x00"                 /* namespace "" */
                                     "\x38\x00"                 /* generation 0 */
                                     "\x42\x00"                 /* creationTimestamp */
                                     "\x5a\x04\x0a\x00\x12\x00" /* a label with an empty key */
                                     "\x12\x00"                 /* spec */
                                     "\x1a\x00";                /* status */

static const char DELETE_BODY[] = "k8s\0"
                                  "\x0a\x13"
                                  "\x0a\x02v1"
                                  "\x12\x0d"
                                  "DeleteOptions"
                                  "\x12\x13"
                                  "\x08\x00" /* gracePeriodSeconds 0 */
                                  "\x22\x0a"
                                  "Background"
                                  "\x2a\x03"
                                  "All";

static void expect(const struct json *json, const char *wanted)
{
    struct json *tree;
    assert_int_equal(json_parse(arena, wanted, strlen(wanted), NULL, &tree, NULL), 0);
    if (!json_equal(json, tree))
        fail_msg("%s, not %s", json_to_string(arena, json), wanted);
}

static const char *parse(const char *body, size_t size)
{
    struct json *json;
    struct err err = ERR_INIT;
    if (schema_protobuf_read_body(arena, kube_kind_find_type, NULL, body, size, &json, &err) < 0)
        return arena_strdup(arena, err.message);
    return json_to_string(arena, json);
}

static void test_bodies(void **state)
{
    assert_string_equal(parse(DELETE_BODY, sizeof(DELETE_BODY) - 1),
                        "{\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Background\",\"dryRun\":"
                        "[\"All\"],\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}");
    assert_string_equal(
        parse(NAMESPACE_BODY, sizeof(NAMESPACE_BODY) - 1),
        "{\"metadata\":{\"name\":\"team\",\"labels\":{\"\":\"\"},\"creationTimestamp\":"
        "null},\"spec\":{},\"status\":{},\"apiVersion\":\"v1\",\"kind\":"
        "\"Namespace\"}");
}

static void test_service(void **state)
{
    static const char spec[] = "\x12\x16" /* spec, 22 bytes */
                               "\x0a\x0e" /* ports */
                               "\x18\x50" /* port 80 */
                               "\x22\x0a" /* targetPort */
                               "\x08\x01\x10\x00\x1a\x04http"
                               "\x22\x04"
                               "Type";
    struct json *json;
    assert_int_equal(
        schema_protobuf_read(arena, &TYPE_SERVICE, spec, sizeof(spec) - 1, &json, NULL), 0);
    expect(json, "{\"metadata\":{\"creationTimestamp\":null},\"spec\":{\"ports\":[{\"port\":80,"
                 "\"targetPort\":\"http\"}],\"type\":"
                 "\"Type\"},\"status\":{\"loadBalancer\":{}}}");
}

/* `kubectl create job j --image=i -- true`: a field that was never set is absent; a field that was
 * set to 0 is there. */
static void test_job(void **state)
{
    static const char job[] = "\x0a\x03" /* metadata */
                              "\x0a\x01j"
                              "\x12\x1c"         /* spec, 28 bytes */
                              "\x32\x18"         /* template, 24 bytes */
                              "\x0a\x02\x0a\x00" /* metadata without a name */
                              "\x12\x12"         /* spec, 18 bytes */
                              "\x12\x0c"         /* container, 12 bytes */
                              "\x0a\x01j\x12\x01i\x1a\x04true"
                              "\x1a\x02No" /* restartPolicy, cut short for this test */
                              "\x38\x00";  /* backoffLimit 0 */
    struct json *json;
    struct err err = ERR_INIT;
    if (schema_protobuf_read(arena, &TYPE_JOB, job, sizeof(job) - 1, &json, &err) < 0)
        fail_msg("%s", err.message);
    expect(
        json,
        "{\"metadata\":{\"name\":\"j\",\"creationTimestamp\":null},\"status\":{},\"spec\":{"
        "\"template\":{\"metadata\":{\"creationTimestamp\":null},"
        "\"spec\":{\"containers\":[{\"name\":\"j\",\"image\":\"i\",\"resources\":{},\"command\":["
        "\"true\"]}],\"restartPolicy\":\"No\"}},\"backoffLimit\":0}}");
}

#define TIME "\x08\xa5\xeb\xdc\xca\x06\x10\x85\x35" /* 9 bytes: seconds, 6789 ns */

/* A Lease of client-go's leader election. A time that was never set is an empty message. */
static void test_lease(void **state)
{
    static const char lease[] = "\x0a\x0d" /* metadata, 13 bytes */
                                "\x0a\x01l\x1a\x02ns"
                                "\x32\x02"
                                "17"            /* resourceVersion */
                                "\x42\x00"      /* creationTimestamp */
                                "\x12\x13"      /* spec, 19 bytes */
                                "\x0a\x00"      /* holderIdentity "" */
                                "\x10\x0f"      /* leaseDurationSeconds 15 */
                                "\x1a\x00"      /* acquireTime */
                                "\x22\x09" TIME /* renewTime */
                                "\x28\x00";     /* leaseTransitions 0 */
    struct json *json;
    struct err err = ERR_INIT;
    if (schema_protobuf_read(arena, &TYPE_LEASE, lease, sizeof(lease) - 1, &json, &err) < 0)
        fail_msg("%s", err.message);
    expect(json, "{\"metadata\":{\"name\":\"l\",\"namespace\":\"ns\",\"resourceVersion\":\"17\","
                 "\"creationTimestamp\":null},\"spec\":{"
                 "\"holderIdentity\":\"\",\"leaseDurationSeconds\":15,\"renewTime\":"
                 "\"2026-01-02T03:04:05.000006Z\",\"leaseTransitions\":0}}");
}

static void test_event(void **state)
{
    static const char event[] = "\x12\x08\x0a\x03Pod\x1a\x01p" /* involvedObject */
                                "\x1a\x01r"                    /* reason */
                                "\x2a\x00"                     /* source */
                                "\x32\x09" TIME                /* firstTimestamp */
                                "\x3a\x00"                     /* lastTimestamp */
                                "\x40\x02"                     /* count */
                                "\x52\x09" TIME;               /* eventTime */
    struct json *json;
    struct err err = ERR_INIT;
    if (schema_protobuf_read(arena, &TYPE_EVENT, event, sizeof(event) - 1, &json, &err) < 0)
        fail_msg("%s", err.message);
    expect(json, "{\"metadata\":{\"creationTimestamp\":null},\"reportingComponent\":\"\","
                 "\"reportingInstance\":\"\",\"lastTimestamp\":null,"
                 "\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\"},\"reason\":\"r\","
                 "\"source\":{},\"firstTimestamp\":\"2026-01-02T03:04:05Z\",\"count\":2,"
                 "\"eventTime\":\"2026-01-02T03:04:05.000006Z\"}");
}

/* Fields that are inline in JSON but a separate message in protobuf; quantities; and bytes that
 * contain JSON. */
static void test_inline_fields_and_quantities(void **state)
{
    static const char pod[] = "\x12\x2c"                 /* spec, 44 bytes */
                              "\x0a\x0b\x0a\x01v"        /* volume, 11 bytes */
                              "\x12\x06\x12\x04\x0a\x02" /* its source: emptyDir with a medium */
                              "ab"
                              "\x12\x1d\x0a\x01m" /* container, 29 bytes */
                              "\x42\x0e\x0a\x0c"  /* resources, limits: cpu 500 */
                              "\x0a\x03"
                              "cpu"
                              "\x12\x05\x0a\x03"
                              "500"
                              "\x52\x08\x0a\x06\x12\x04\x0a\x02" /* livenessProbe, httpGet */
                              "/b";
    struct json *json;
    struct err err = ERR_INIT;
    if (schema_protobuf_read(arena, &TYPE_POD, pod, sizeof(pod) - 1, &json, &err) < 0)
        fail_msg("%s", err.message);
    const struct json *spec = json_get(json, "spec");
    const struct json *container = json_first(json_get(spec, "containers"));
    const struct json *volume = json_first(json_get(spec, "volumes"));
    assert_string_equal(json_get_string(json_get(volume, "emptyDir"), "medium", ""), "ab");
    assert_string_equal(json_get_string(json_at(container, "resources", "limits", NULL), "cpu", ""),
                        "500");
    assert_string_equal(
        json_get_string(json_at(container, "livenessProbe", "httpGet", NULL), "path", ""), "/b");
}

/* JSON cannot show year 0 or years of five digits. */
static void test_times_out_of_range(void **state)
{
    static const char *const times[] = {
        "\x08\xff\x91\xb8\xc3\x98\xfe\xff\xff\xff\x01", /* a second before the year 1 */
        "\x08\x80\x83\xd1\xff\xaf\x07",                 /* the year 10000 */
        "\x10\x80\x94\xeb\xdc\x03",                     /* a second of nanoseconds */
        "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* -1 */
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char *event = arena_printf(arena, "\x32%c%s", (int)strlen(times[i]), times[i]);
        struct json *json;
        assert_int_equal(
            schema_protobuf_read(arena, &TYPE_EVENT, event, strlen(event), &json, NULL),
            -ERR_BAD_REQUEST);
    }
}

/* A truncated body is rejected or gives a smaller object. No byte is read past its end. */
static void test_truncated_bodies(void **state)
{
    for (size_t size = 0; size < sizeof(NAMESPACE_BODY) - 1; size++) {
        char *copy = arena_alloc(arena, size + 1);
        memcpy(copy, NAMESPACE_BODY, size);
        assert_non_null(parse(copy, size));
    }
    assert_true(str_has_prefix(parse("{}", 2), "the protobuf body cannot be read"));
}

static void test_unknown_kind(void **state)
{
    static const char body[] = "k8s\0\x0a\x09\x0a\x02v1\x12\x03"
                               "Cat";
    struct json *json;
    assert_int_equal(schema_protobuf_read_body(arena, kube_kind_find_type, NULL, body,
                                               sizeof(body) - 1, &json, NULL),
                     -ERR_MEDIA_TYPE);
    assert_string_equal(
        parse("k8s\0", 4),
        "an object without a kind of version \"\" cannot be read from protobuf; send "
        "it as application/json");
}

static const struct schema_object NESTED;
static const struct schema_field NESTED_FIELDS[] = {
    {.name = "a", .number = 1, .value = {.type = SCHEMA_OBJECT, .object = &NESTED}},
    {.name = "n", .number = 2, .value = {.type = SCHEMA_INT32}},
    {.name = "m", .number = 3, .value = {.type = SCHEMA_MAP, .items = &(struct schema){0}}},
    {0},
};
static const struct schema_object NESTED = {.fields = NESTED_FIELDS};

static int read_nested(const void *data, size_t size)
{
    struct json *json;
    return schema_protobuf_read(arena, &NESTED, data, size, &json, NULL);
}

/* Reads nested messages. Each adds two bytes: a tag and a length. */
static int read_deep(size_t depth)
{
    char data[4 * SCHEMA_PROTOBUF_DEPTH_MAX];
    size_t size = 0;
    for (size_t i = 1; i < depth; i++) {
        memmove(data + 2, data, size);
        data[0] = 0x0a;
        data[1] = (char)size;
        size += 2;
    }
    return read_nested(data, size);
}

static int read_many(size_t fields)
{
    char *data = arena_alloc(arena, 2 * fields);
    for (size_t i = 0; i < fields; i++)
        memcpy(data + 2 * i, "\x10\x01", 2);
    return read_nested(data, 2 * fields);
}

/* Each limit and one past it. */
static void test_limits(void **state)
{
    assert_int_equal(read_deep(SCHEMA_PROTOBUF_DEPTH_MAX), 0);
    assert_int_equal(read_deep(SCHEMA_PROTOBUF_DEPTH_MAX + 1), -ERR_BAD_REQUEST);
    assert_int_equal(read_many(SCHEMA_PROTOBUF_FIELDS_MAX), 0);
    assert_int_equal(read_many(SCHEMA_PROTOBUF_FIELDS_MAX + 1), -ERR_BAD_REQUEST);
    /* A 64-bit number has at most ten bytes. */
    assert_int_equal(read_nested("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), 0);
    assert_int_equal(read_nested("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12),
                     -ERR_BAD_REQUEST);
}

/* The last of several entries with the same key counts. A large map takes no quadratic time. */
static void test_maps(void **state)
{
    enum { COUNT = 200 * 1000, ENTRY = 13 };
    static const char twice[] = "\x12\x06\x0a\x01k\x12\x01x"
                                "\x12\x06\x0a\x01l\x12\x01y"
                                "\x12\x06\x0a\x01k\x12\x01z";
    struct json *json;
    assert_int_equal(
        schema_protobuf_read(arena, &TYPE_CONFIG_MAP, twice, sizeof(twice) - 1, &json, NULL), 0);
    assert_string_equal(json_to_string(arena, json_get(json, "data")), "{\"k\":\"z\",\"l\":\"y\"}");
    _cleanup_buf_ struct buf data;
    buf_init(&data, (size_t)COUNT * ENTRY + 1);
    for (int i = 0; i < COUNT; i++)
        buf_printf(&data, "\x12\x08\x0a\x06%06x", i);
    assert_int_equal(
        schema_protobuf_read(arena, &TYPE_CONFIG_MAP, data.data, data.size, &json, NULL), 0);
    assert_int_equal(json_count(json_get(json, "data")), COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_service),
        cmocka_unit_test(test_job),
        cmocka_unit_test(test_truncated_bodies),
        cmocka_unit_test(test_unknown_kind),
        cmocka_unit_test(test_lease),
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_inline_fields_and_quantities),
        cmocka_unit_test(test_times_out_of_range),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_maps),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
