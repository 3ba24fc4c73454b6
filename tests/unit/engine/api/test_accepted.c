/* Tests that every object that a write accepts can be read, listed, watched, patched and deleted:
 * at the limits, and with random objects of every kind, including hostile ones.
 * TRAINYARD_TEST_SCALE multiplies their number. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/internal.h"
#include "engine/stored/stored.h"
#include "every_kind.h"
#include "kube/object.h"
#include "test_scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TABLE   "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
#define ONE     "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

enum { ROUNDS = 1000, TEXT_MAX = 16 << 20 };

/* ---- Checks of one object -------------------------------------------------------------------- */

struct place {
    const char *path; /* path of the collection */
    const char *name;
    const char *story; /* the writes so far, for the message of a failure */
};

static void fail_at(const struct place *place, const char *what, const struct answer *answer)
{
    fail_msg("%s of %s/%s, which was made by %.3000s: %d %.1000s", what, place->path, place->name,
             place->story, answer ? answer->status : 0, answer ? answer->body : "");
}

static void expect_one(struct api *api, const struct place *place, const char *accept)
{
    const char *at = arena_printf(api->arena, "%s/%s", place->path, place->name);
    struct answer answer = api_call(api, "GET", at, NULL, accept, NULL);
    if (answer.status != 200)
        fail_at(place, accept, &answer);
}

static void expect_listed(struct api *api, const struct place *place, const char *query,
                          const char *accept)
{
    const char *at = arena_printf(api->arena, "%s?%s", place->path, query);
    struct answer answer = api_call(api, "GET", at, NULL, accept, NULL);
    const char *name = arena_printf(api->arena, "\"name\":\"%s\"", place->name);
    if (answer.status != 200 || answer.warning[0] || !strstr(answer.body, name))
        fail_at(place, at, &answer);
}

static void expect_watched(struct api *api, const struct place *place, const char *query,
                           const char *accept)
{
    const char *at = arena_printf(api->arena, "%s?watch=1&%s", place->path, query);
    struct stream *stream = stream_open(api, at, accept);
    bool found = false;
    for (size_t i = 0; i < stream_count(stream); i++) {
        const struct json *object = json_get(stream_event(stream, i), "object");
        const struct json *row = json_element(json_get(object, "rows"), 0);
        found |= str_eq(kube_meta_name(row ? json_get(row, "object") : object), place->name);
    }
    if (!found || stream_ended(stream))
        fail_at(place, at, NULL);
    stream_close(stream);
}

/* Does everything that a client may do with an object. */
static void expect_usable(struct api *api, const struct place *place)
{
    const char *one = arena_printf(api->arena, "fieldSelector=metadata.name%%3D%s", place->name);
    expect_one(api, place, "application/json");
    expect_one(api, place, TABLE);
    expect_one(api, place, ONE);
    expect_listed(api, place, "", "application/json");
    expect_listed(api, place, "includeObject=Object", TABLE);
    expect_listed(api, place, "", PARTIAL);
    expect_listed(api, place, one, "application/json");
    expect_watched(api, place, "", NULL);
    expect_watched(api, place, "includeObject=Object", TABLE);
    expect_watched(api, place, one, NULL);
    expect_watched(api, place,
                   "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks="
                   "true",
                   ONE);
    const char *at = arena_printf(api->arena, "%s/%s", place->path, place->name);
    struct answer answer = api_merge(api, at, "{\"metadata\":{\"labels\":{\"seen\":\"yes\"}}}");
    if (answer.status != 200)
        fail_at(place, "PATCH", &answer);
    expect_listed(api, place, "labelSelector=seen%3Dyes", "application/json");
    expect_watched(api, place, "labelSelector=seen%3Dyes", NULL);
}

static void expect_deletable(struct api *api, const struct place *place)
{
    const char *at = arena_printf(api->arena, "%s/%s", place->path, place->name);
    struct answer answer = api_delete(api, at, NULL);
    if (answer.status != 200)
        fail_at(place, "DELETE", &answer);
    answer = api_merge(api, at, "{\"metadata\":{\"finalizers\":null}}");
    if (answer.status != 200 && answer.status != 404)
        fail_at(place, "PATCH of finalizers", &answer);
}

/* ---- At the limits --------------------------------------------------------------------------- */

static void append_nested(struct buf *text, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buf_append_str(text, "{\"a\":");
    buf_append_char(text, '1');
    for (size_t i = 0; i < depth; i++)
        buf_append_char(text, '}');
}

static const char *deep_object(struct api *api, const char *name, const char *member, size_t depth)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_printf(&text,
               "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Deep\",\"metadata\":{\"name\":\"%s\"},",
               name);
    buf_printf(&text, "\"%s\":", member);
    append_nested(&text, depth);
    buf_append_char(&text, '}');
    return arena_strdup(api->arena, text.data);
}

static void define(struct api *api)
{
    assert_int_equal(api_post(api, DEFINITIONS, DEEP_DEFINITION).status, 201);
}

/* The ways to write a deeply nested member. */
enum way { CREATE, UPDATE, MERGE, ADD, COPY, APPLY, APPLY_OVER, STATUS, WAYS };

static struct answer write_deep(struct api *api, enum way way, const char *name, size_t depth)
{
    const char *at = arena_printf(api->arena, "%s/%s", DEEPS, name), *text;
    const char *made = deep_object(api, name, "spec", depth);
    if (way != CREATE && way != APPLY)
        assert_int_equal(api_post(api, DEEPS, deep_object(api, name, "other", 1)).status, 201);
    switch (way) {
    case CREATE:
        return api_post(api, DEEPS, made);
    case UPDATE:
        return api_put(api, at, made);
    case MERGE:
        return api_merge(api, at, made);
    case ADD:
        text = strstr(made, "\"spec\":") + strlen("\"spec\":");
        text = arena_printf(api->arena, "[{\"op\":\"add\",\"path\":\"/spec\",\"value\":%.*s}]",
                            (int)strlen(text) - 1, text);
        return api_call(api, "PATCH", at, "application/json-patch+json", NULL, text);
    case COPY:
        text = "[{\"op\":\"add\",\"path\":\"/spec\",\"value\":{\"a\":1}}";
        for (size_t i = 1; i < depth; i++)
            text = arena_printf(
                api->arena, "%s,{\"op\":\"copy\",\"from\":\"/spec\",\"path\":\"/spec/a\"}", text);
        return api_call(api, "PATCH", at, "application/json-patch+json", NULL,
                        arena_printf(api->arena, "%s]", text));
    case APPLY:
    case APPLY_OVER:
        return api_call(api, "PATCH", arena_printf(api->arena, "%s?fieldManager=m&force=true", at),
                        "application/apply-patch+yaml", NULL, made);
    case STATUS:
        return api_merge(api, arena_printf(api->arena, "%s/status", at),
                         deep_object(api, name, "status", depth));
    case WAYS:
        break;
    }
    return (struct answer){0};
}

/* Around the limit, one level at a time: each object is rejected with the reason, or works. */
static void test_depth(void **state)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct api api;
        size_t accepted = 0, refused = 0;
        api_open(&api, 1);
        define(&api);
        for (size_t depth = JSON_DEPTH_MAX - 40; depth < JSON_DEPTH_MAX + 2; depth++) {
            const char *name = arena_printf(api.arena, "d-%d-%zu", way, depth);
            const struct place place = {DEEPS, name, "a write around the limit"};
            struct answer answer = write_deep(&api, way, name, depth);
            if (answer.status == 200 || answer.status == 201) {
                accepted++;
                expect_usable(&api, &place);
                expect_deletable(&api, &place);
                continue;
            }
            refused++;
            if (answer.status != 422 && answer.status != 400)
                fail_at(&place, "the write", &answer);
            if (accepted + JSON_DEPTH_MAX - 40 == depth &&
                !strstr(answer_message(&answer), "levels deep as it is stored"))
                fail_at(&place, "the refusal", &answer);
        }
        print_message("way %d: %zu accepted, %zu refused\n", way, accepted, refused);
        assert_true(accepted > 5);
        assert_true(refused > 5);
        api_close(&api);
    }
}

/* An object of this form once crashed the server. */
static void test_stored_form_counts(void **state)
{
    struct api *api = *state;
    define(api);
    struct answer answer = api_post(api, DEEPS, deep_object(api, "d", "spec", 123));
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "the object is nested 129 levels deep as it is stored, with defaults and "
                        "metadata.managedFields; at most 128 are allowed: make it flatter");
    answer = api_call(api, "POST", DEEPS "?dryRun=All", "application/json", NULL,
                      deep_object(api, "d", "spec", 123));
    assert_int_equal(answer.status, 422);
}

/* An object of the largest size can be deleted, although the deletion adds to it. */
static void test_size(void **state)
{
    struct api *api = *state;
    const struct place place = {DEEPS, "large", "writes up to the limit"};
    define(api);
    assert_int_equal(
        api_post(api, DEEPS, "{\"metadata\":{\"name\":\"large\",\"finalizers\":[\"a.io/b\"]}}")
            .status,
        201);
    char *part = arena_alloc(api->arena, 1 << 20);
    memset(part, 'x', (1 << 20) - 1);
    part[(1 << 20) - 1] = '\0';
    struct answer answer = {0};
    size_t kept = (1 << 20) - 1;
    for (int i = 0; kept > 0; i++) {
        answer = api_merge(api, DEEPS "/large",
                           arena_printf(api->arena, "{\"p%d\":\"%.*s\"}", i, (int)kept, part));
        if (answer.status != 200) {
            assert_int_equal(answer.status, 413);
            assert_non_null(strstr(answer_message(&answer), "larger than 8388608 bytes"));
            kept /= 2;
        }
    }
    expect_one(api, &place, "application/json");
    expect_listed(api, &place, "includeObject=Object", TABLE);
    expect_watched(api, &place, "includeObject=Object", TABLE);
    expect_deletable(api, &place);
    assert_int_equal(api_get(api, DEEPS "/large").status, 404);
}

/* Large objects are listed in pages, whatever limit the client asks for. */
static void test_large_list(void **state)
{
    struct api *api = *state;
    enum { COUNT = 6 };
    char *large = arena_alloc(api->arena, 7 << 20);
    memset(large, 'x', (7 << 20) - 1);
    large[(7 << 20) - 1] = '\0';
    define(api);
    for (int i = 0; i < COUNT; i++) {
        const char *text = arena_printf(
            api->arena, "{\"metadata\":{\"name\":\"large-%d\"},\"spec\":\"%s\"}", i, large);
        assert_int_equal(api_post(api, DEEPS, text).status, 201);
    }
    struct answer answer = api_get(api, DEEPS "?limit=500");
    const char *more = answer_at(api, &answer, "metadata.continue");
    assert_int_equal(answer.status, 200);
    assert_string_not_equal(more, "");
    size_t first = json_count(json_get(answer.json, "items"));
    answer = api_get(api, arena_printf(api->arena, DEEPS "?limit=500&continue=%s", more));
    assert_int_equal(first + json_count(json_get(answer.json, "items")), COUNT);
    assert_string_equal(answer_at(api, &answer, "metadata.continue"), "");
}

/* ---- Random objects -------------------------------------------------------------------------- */

/* The fields that an object of the kind needs at least, after its metadata. */
static const struct {
    const char *storage, *members;
} BASES[] = {
#define POD_SPEC                                                                                   \
    "{'containers':[{'name':'main','image':'busybox','env':[{'name':'A','value':'b'}]}]}"
    {"configmaps", "'data':{'a':'b'}"},
    {"events", "'involvedObject':{'kind':'Pod','namespace':'default','name':'x'},'reason':'R'"},
    {"limitranges", "'spec':{'limits':[{'type':'Container','max':{'cpu':'1'}}]}"},
    {"persistentvolumeclaims",
     "'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}"},
    {"persistentvolumes", "'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],"
                          "'hostPath':{'path':'/tmp'}}"},
    {"pods", "'spec':" POD_SPEC},
    {"resourcequotas", "'spec':{'hard':{'count/secrets':'100000'}}"},
    {"secrets", "'stringData':{'a':'b'}"},
    {"services", "'spec':{'selector':{'a':'b'},'ports':[{'port':80}]}"},
    {"deployments.apps", "'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':"
                         "{'labels':{'a':'b'}},'spec':" POD_SPEC "}}"},
    {"replicasets.apps", "'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':"
                         "{'labels':{'a':'b'}},'spec':" POD_SPEC "}}"},
    {"workflows.argoproj.io", "'spec':{'entrypoint':'a','templates':[{'name':'a','container':"
                              "{'image':'busybox'}}]}"},
    {"jobs.batch", "'spec':{'template':{'spec':{'restartPolicy':'Never','containers':"
                   "[{'name':'main','image':'busybox'}]}}}"},
    {"leases.coordination.k8s.io", "'spec':{'holderIdentity':'a'}"},
    {"endpointslices.discovery.k8s.io", "'addressType':'IPv4','endpoints':[],'ports':[]"},
    {"pytorchjobs.kubeflow.org",
     "'spec':{'pytorchReplicaSpecs':{'Master':{'replicas':1,'template':{'spec':"
     "{'containers':[{'name':'pytorch','image':'busybox'}]}}}}}"},
    {"tfjobs.kubeflow.org", "'spec':{'tfReplicaSpecs':{'Worker':{'replicas':1,'template':{'spec':"
                            "{'containers':[{'name':'tensorflow','image':'busybox'}]}}}}}"},
    {"clusterrolebindings.rbac.authorization.k8s.io",
     "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'view'}"},
    {"rolebindings.rbac.authorization.k8s.io",
     "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'view'}"},
    {"clusterroles.rbac.authorization.k8s.io", "'rules':[]"},
    {"roles.rbac.authorization.k8s.io", "'rules':[]"},
    {"priorityclasses.scheduling.k8s.io", "'value':1"},
    {"podgroups.scheduling.x-k8s.io", "'spec':{'minMember':1}"},
    {"podgroups.scheduling.volcano.sh", "'spec':{'minMember':1}"},
    {"storageclasses.storage.k8s.io", "'provisioner':'a.io/b'"},
    {"deeps.x.io", "'spec':{},'status':{},'list':[{}]"},
};

static const char *base_of(struct api *api, const struct kube_kind *resource, const char *name)
{
    const char *members = "";
    for (size_t i = 0; i < ARRAY_SIZE(BASES); i++)
        if (str_eq(BASES[i].storage, resource->storage))
            members = BASES[i].members;
    if (str_eq(resource->id.kind, "CustomResourceDefinition"))
        return arena_printf(
            api->arena,
            "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
            "\"metadata\":{\"name\":\"%ss.y.io\"},\"spec\":{\"group\":\"y.io\",\"scope\":"
            "\"Cluster\",\"names\":{\"plural\":\"%ss\",\"kind\":\"K%s\"},\"versions\":[{\"name\":"
            "\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
            "\"object\",\"properties\":{\"a\":{\"type\":\"object\",\"default\":{}}}}}}]}}",
            name, name, name);
    char *text = arena_printf(
        api->arena, "{'apiVersion':'%s','kind':'%s','metadata':{'name':'%s','annotations':{}}%s%s}",
        resource->api_version, resource->id.kind, name, members[0] ? "," : "", members);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return text;
}

static const char *pick(struct rand *rand, const char *const *list, size_t count)
{
    return list[rand_below(rand, count)];
}

static void append_value(struct buf *text, struct rand *rand, int levels)
{
    static const char *const SCALARS[] = {
        "null",
        "true",
        "0",
        "-0",
        "1e308",
        "1E-400",
        "9223372036854775807",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231",
        "\"\"",
        "\"a\"",
        "\"\\u0001\\u001f\\u007f\"",
        "\"\\ud83d\\ude00 \\u202e\\ufeff\\uffff\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xf0\x9f\x9a\x82\xc2\x80\xe2\x80\xa8\"",
        "\"1\"",
        "\"2023-11-14T22:13:20Z\"",
        "\"</script>\"",
        "\"${x} {{y}} %s %n\"",
    };
    static const char *const NAMES[] = {
        "",     "a",    "a/b", "a.b", "~",    "\\u0000x", "\\ud83d\\ude00",     "metadata",
        "name", "kind", "f:a", ".",   "k:{}", "$patch",   "$setElementOrder/a", "\\\"",
        "%",    "\\n"};
    switch (levels > 0 ? rand_below(rand, 12) : 11) {
    case 0:
        append_nested(text, rand_below(rand, JSON_DEPTH_MAX + 4));
        return;
    case 1: { /* wide */
        size_t count = rand_below(rand, 2000);
        buf_append_char(text, '{');
        for (size_t i = 0; i < count; i++)
            buf_printf(text, "%s\"m%zu\":%zu", i ? "," : "", i, i);
        buf_append_char(text, '}');
        return;
    }
    case 2: { /* long */
        size_t size = rand_below(rand, 100000);
        buf_append_char(text, '"');
        for (size_t i = 0; i < size; i++)
            buf_append_char(text, 'y');
        buf_append_char(text, '"');
        return;
    }
    case 3:
    case 4:
    case 5: {
        size_t count = rand_below(rand, 5);
        buf_append_char(text, '[');
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                buf_append_char(text, ',');
            append_value(text, rand, levels - 1);
        }
        buf_append_char(text, ']');
        return;
    }
    case 6:
    case 7:
    case 8: { /* duplicate names */
        size_t count = rand_below(rand, 5);
        buf_append_char(text, '{');
        for (size_t i = 0; i < count; i++) {
            buf_printf(text, "%s\"%s\":", i ? "," : "", pick(rand, NAMES, ARRAY_SIZE(NAMES)));
            append_value(text, rand, levels - 1);
        }
        buf_append_char(text, '}');
        return;
    }
    default:
        buf_append_str(text, pick(rand, SCALARS, ARRAY_SIZE(SCALARS)));
    }
}

/* Adds members to objects anywhere in the text. */
static const char *with_members(struct api *api, struct rand *rand, const char *base)
{
    static const char *const NAMES[] = {
        "x",      "",           "a",          "labels",        "annotations", "spec",
        "status", "data",       "finalizers", "value",         "image",       "metadata",
        "type",   "properties", "default",    "managedFields", "env",         "a.io/b"};
    const char *text = base;
    for (uint64_t left = rand_below(rand, 4); left > 0; left--) {
        _cleanup_buf_ struct buf made;
        size_t objects = 0, chosen;
        buf_init(&made, TEXT_MAX);
        for (const char *c = text; *c; c++)
            objects += c[0] == '{' && (c[1] == '"' || c[1] == '}');
        chosen = rand_below(rand, objects ? objects : 1);
        const char *at = text;
        for (; *at; at++)
            if (at[0] == '{' && (at[1] == '"' || at[1] == '}') && chosen-- == 0)
                break;
        buf_append(&made, text, (size_t)(at - text) + 1);
        buf_printf(&made, "\"%s\":", pick(rand, NAMES, ARRAY_SIZE(NAMES)));
        append_value(&made, rand, 3);
        if (at[0] && at[1] != '}')
            buf_append_char(&made, ',');
        if (at[0])
            buf_append_str(&made, at + 1);
        text = arena_strdup(api->arena, made.data);
    }
    return text;
}

static const char *json_patch(struct api *api, struct rand *rand)
{
    static const char *const PATHS[] = {
        "/spec/x", "/metadata/annotations/x", "/metadata/labels", "/data/x", "/x", "/status",
        "/spec",   "/metadata/finalizers"};
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    buf_append_char(&text, '[');
    for (uint64_t left = 1 + rand_below(rand, 3); left > 0; left--) {
        const char *path = pick(rand, PATHS, ARRAY_SIZE(PATHS));
        if (text.size > 1)
            buf_append_char(&text, ',');
        if (rand_below(rand, 4) == 0) {
            buf_printf(&text, "{\"op\":\"copy\",\"from\":\"%s\",\"path\":\"%s/x\"}", path, path);
            continue;
        }
        buf_printf(&text, "{\"op\":\"add\",\"path\":\"%s\",\"value\":", path);
        append_value(&text, rand, 3);
        buf_append_char(&text, '}');
    }
    buf_append_char(&text, ']');
    return arena_strdup(api->arena, text.data);
}

enum random_way {
    POST,
    PUT,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC,
    APPLIED,
    STATUS_PATCH,
    RANDOM_WAYS
};

static struct answer write_random(struct api *api, struct rand *rand, enum random_way way,
                                  const char *path, const char *name, const char *base,
                                  const char **ret_text)
{
    static const char *const TYPES[] = {
        [PUT] = "application/json",
        [JSON_PATCH] = "application/json-patch+json",
        [MERGE_PATCH] = "application/merge-patch+json",
        [STRATEGIC] = "application/strategic-merge-patch+json",
        [APPLIED] = "application/apply-patch+yaml",
        [STATUS_PATCH] = "application/merge-patch+json",
    };
    const char *at = arena_printf(api->arena, "%s/%s%s", path, name,
                                  way == STATUS_PATCH ? "/status"
                                  : way == APPLIED    ? "?fieldManager=m&force=true"
                                                      : "");
    const char *text = way == JSON_PATCH ? json_patch(api, rand) : with_members(api, rand, base);
    *ret_text = arena_printf(api->arena, "way %d with %s", way, text);
    if (way == POST)
        return api_post(api, path, text);
    return api_call(api, way == PUT ? "PUT" : "PATCH", at, TYPES[way], NULL, text);
}

static void write_and_check(struct api *api, struct rand *rand, const struct kube_kind *resource,
                            enum random_way way, uint64_t round, size_t *accepted)
{
    const char *path = kind_path(api->arena, resource), *text;
    const char *name = arena_printf(api->arena, "n%llu", (unsigned long long)round);
    const char *base = base_of(api, resource, name);
    if (str_eq(resource->id.kind, "CustomResourceDefinition"))
        name = arena_printf(api->arena, "%ss.y.io", name);
    struct place place = {path, name, base};
    bool made_first = way != POST && !(way == APPLIED && rand_below(rand, 2));
    if (made_first) {
        struct answer answer = api_post(api, path, base);
        if (answer.status != 201)
            fail_at(&place, "the base", &answer);
    }
    struct answer answer = write_random(api, rand, way, path, name, base, &text);
    place.story = text;
    bool taken = answer.status == 200 || answer.status == 201;
    /* Kubernetes also has no reason for an object that cannot be applied. */
    bool refused = (answer.status >= 400 && answer.status < 500) ||
                   str_has_prefix(answer_message(&answer), "failed to create typed patch object");
    if (!taken && !refused)
        fail_at(&place, "the write", &answer);
    accepted[way] += taken;
    if (!taken && !made_first)
        return;
    expect_usable(api, &place);
    expect_deletable(api, &place);
}

/* Makes ROUNDS writes to a new server. Deleted namespaces stay Terminating here, so with a single
 * server the lists would grow with each round. */
static void write_random_rounds(struct rand *rand, size_t kinds, uint64_t first, size_t *accepted)
{
    struct api api;
    api_open(&api, 1);
    define(&api);
    for (uint64_t round = first; round < first + ROUNDS; round++) {
        /* kinds that keep all fields are chosen more often */
        size_t chosen = rand_below(rand, kinds + 8);
        const struct kube_kind *resource = every_kind_at(chosen);
        enum random_way way = (enum random_way)rand_below(rand, RANDOM_WAYS);
        if (!resource)
            resource = registry_find(engine_registry(api.engine), "x.io", "v1", "deeps");
        if (way == STATUS_PATCH && !kube_kind_has_status(resource))
            way = MERGE_PATCH;
        write_and_check(&api, rand, resource, way, round, accepted);
        arena_reset(api.arena);
    }
    api_close(&api);
}

static void test_random(void **state)
{
    size_t kinds = 0, accepted[RANDOM_WAYS] = {0};
    struct rand rand;
    while (every_kind_at(kinds))
        kinds++;
    rand_init(&rand, 20231114);
    for (uint64_t i = 0; i < test_scale(); i++)
        write_random_rounds(&rand, kinds, i * ROUNDS, accepted);
    for (size_t i = 0; i < RANDOM_WAYS; i++) {
        print_message("way %zu: %zu accepted\n", i, accepted[i]);
        assert_true(accepted[i] > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stored_form_counts, api_setup, api_teardown),
        cmocka_unit_test(test_depth),
        cmocka_unit_test_setup_teardown(test_size, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_large_list, api_setup, api_teardown),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
