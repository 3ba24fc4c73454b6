/* Volumes: each kind ends as a directory with the right content, or is refused with its name. */
#include "node_test.h"

#include "base/file.h"
#include "node/volumes.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/trainyard-volumes.XXXXXX";

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    return json_at(context, resource->plural, name, NULL);
}

static int prepare(struct arena *arena, const char *volume, struct volume *ret, struct err *err)
{
    const struct pod_facts facts = {
        .pod = read_json(arena, "{'metadata':{'name':'p','namespace':'n','labels':{'a':'1','b':"
                                "'2'}},'spec':{'containers':[{}]}}"),
        .hostname = "p",
        .address = "10.244.1.2",
        .host_address = "127.0.0.1"};
    const struct node_objects objects = {
        get_object,
        read_json(arena,
                  "{'configmaps':{'c':{'data':{'a.txt':'A','b.txt':'B'},'binaryData':{'z':"
                  "'AQI='}}},"
                  " 'secrets':{'s':{'data':{'p':'aHVzaA=='}}},"
                  " 'persistentvolumeclaims':{"
                  "   'claim':{'spec':{'volumeName':'made'},'status':{'phase':'Bound'}},"
                  "   'by-hand':{'spec':{'volumeName':'v'},'status':{'phase':'Bound'}},"
                  "   'remote':{'spec':{'volumeName':'far'},'status':{'phase':'Bound'}},"
                  "   'early':{'spec':{'volumeName':'later'},'status':{'phase':'Bound'}},"
                  "   'waiting':{'spec':{'volumeName':'v'},'status':{'phase':'Pending'}}},"
                  " 'persistentvolumes':{'v':{'spec':{'hostPath':{'path':'/usr/share'}}},"
                  "   'made':{'metadata':{'annotations':{'trainyard.dev/volume':'n/claim'}}},"
                  "   'far':{'spec':{'nfs':{'server':'s','path':'/'}}}}}")};
    struct map tokens = {0};
    map_put(&tokens, "", (char[]){"of the API"});
    map_put(&tokens, "vault", (char[]){"of the vault"});
    const struct volume_context context = {.state_dir = root,
                                           .pod_dir = arena_printf(arena, "%s/pod", root),
                                           .facts = &facts,
                                           .objects = &objects,
                                           .tokens = &tokens};
    int result = volume_prepare(arena, &context, read_json(arena, volume), ret, err);
    map_release(&tokens);
    return result;
}

static void has_file(const struct volume *volume, const char *name, const char *content)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", volume->source, name);
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    struct err err = ERR_INIT;
    if (file_read(path, &text, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text.data, content);
}

/* A config map that changes while a pod shows it: whole, in part, and among others. */
static void refreshing(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct pod_facts facts = {
        .pod = read_json(arena, "{'metadata':{'name':'p','namespace':'n'},'spec':{}}")};
    struct json *world = read_json(
        arena, "{'configmaps':{'c':{'data':{'a':'1','b':'2'}}},'secrets':{'c':{'data':{'a':"
               "'aHVzaA=='}}}}");
    const struct node_objects objects = {get_object, world};
    struct map tokens = {0};
    const struct volume_context context = {.state_dir = root,
                                           .pod_dir = arena_printf(arena, "%s/fresh", root),
                                           .facts = &facts,
                                           .objects = &objects,
                                           .tokens = &tokens};
    static const char *const volumes[] = {
        "{'name':'whole','configMap':{'name':'c'}}",
        "{'name':'part','configMap':{'name':'c','items':[{'key':'a','path':'x/y'}]}}",
        ("{'name':'mixed','projected':{'sources':[{'secret':{'name':'c'}},{'configMap':{'name':'c',"
         "'items':[{'key':'b','path':'b'}]}}]}}"),
        "{'name':'other','secret':{'secretName':'c'}}",
    };
    struct volume made[4];
    struct err err = ERR_INIT;
    for (size_t i = 0; i < 4; i++)
        if (volume_prepare(arena, &context, read_json(arena, volumes[i]), &made[i], &err) < 0)
            fail_msg("%s", err.message);
    json_set(arena, json_at(world, "configmaps", "c", NULL), "data",
             read_json(arena, "{'a':'3','b':'4','n':'5'}"));
    for (size_t i = 0; i < 4; i++)
        if (volume_refresh(arena, &context, read_json(arena, volumes[i]), &KUBE_CONFIGMAPS, "c",
                           &err) < 0)
            fail_msg("%s", err.message);
    has_file(&made[0], "a", "3");
    has_file(&made[0], "n", "5");
    has_file(&made[1], "x/y", "3");
    has_file(&made[2], "a", "hush");
    has_file(&made[2], "b", "4");
    has_file(&made[3], "a", "hush");
    /* A key goes; one that is asked for by name is missed, and what is there stays. */
    json_set(arena, json_at(world, "configmaps", "c", NULL), "data", read_json(arena, "{'b':'6'}"));
    assert_int_equal(
        volume_refresh(arena, &context, read_json(arena, volumes[0]), &KUBE_CONFIGMAPS, "c", &err),
        0);
    _cleanup_free_ char *gone = mem_printf("%s/a", made[0].source);
    assert_int_not_equal(access(gone, F_OK), 0);
    has_file(&made[0], "b", "6");
    assert_true(volume_refresh(arena, &context, read_json(arena, volumes[1]), &KUBE_CONFIGMAPS, "c",
                               &err) < 0);
    has_file(&made[1], "x/y", "3");
}

static void contents(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct volume v;
    struct err err = ERR_INIT;
    struct stat info;
    assert_int_equal(prepare(arena, "{'name':'e','emptyDir':{}}", &v, &err), 0);
    assert_int_equal(stat(v.source, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0777);
    assert_false(v.read_only);
    assert_int_equal(prepare(arena, "{'name':'m','emptyDir':{'medium':'Memory'}}", &v, &err), 0);
    assert_null(v.source);
    assert_int_equal(prepare(arena, "{'name':'c','configMap':{'name':'c'}}", &v, &err), 0);
    assert_true(v.read_only);
    has_file(&v, "a.txt", "A");
    has_file(&v, "z", "\1\2");
    assert_int_equal(prepare(arena,
                             "{'name':'i','configMap':{'name':'c','items':[{'key':'b.txt','path':"
                             "'x/y','mode':256}]}}",
                             &v, &err),
                     0);
    has_file(&v, "x/y", "B");
    _cleanup_free_ char *left_out = mem_printf("%s/a.txt", v.source);
    assert_false(file_exists(left_out));
    assert_int_equal(prepare(arena, "{'name':'s','secret':{'secretName':'s'}}", &v, &err), 0);
    has_file(&v, "p", "hush");
    assert_int_equal(
        prepare(arena,
                "{'name':'d','downwardAPI':{'items':[{'path':'labels','fieldRef':{'fieldPath':"
                "'metadata.labels'}},{'path':'name','fieldRef':{'fieldPath':'metadata.name'}}]}}",
                &v, &err),
        0);
    has_file(&v, "labels", "a=\"1\"\nb=\"2\"\n");
    has_file(&v, "name", "p");
    assert_int_equal(prepare(arena,
                             "{'name':'p','projected':{'sources':[{'configMap':{'name':'c'}},{'"
                             "secret':{'name':'s'}},{'serviceAccountToken':{'path':'t'}},"
                             "{'serviceAccountToken':{'path':'deep/v','audience':'vault'}}]}}",
                             &v, &err),
                     0);
    has_file(&v, "t", "of the API");
    has_file(&v, "deep/v", "of the vault");
    has_file(&v, "b.txt", "B");
    has_file(&v, "p", "hush");
    assert_int_equal(
        prepare(arena, "{'name':'v','persistentVolumeClaim':{'claimName':'claim'}}", &v, &err), 0);
    assert_true(str_has_suffix(v.source, "/volumes/n/claim"));
    assert_int_equal(
        prepare(arena, "{'name':'v','persistentVolumeClaim':{'claimName':'by-hand'}}", &v, &err),
        0);
    assert_string_equal(v.source, "/usr/share");
    assert_int_equal(prepare(arena, "{'name':'h','hostPath':{'path':'/usr'}}", &v, &err), 0);
    assert_string_equal(v.source, "/usr");
}

static void refusals(void **state)
{
    static const struct {
        const char *volume, *message;
        int result;
    } CASES[] = {
        {"{'name':'x','configMap':{'name':'none'}}", "volume 'x': configmap 'none' not found",
         -ERR_NOT_FOUND},
        {"{'name':'x','configMap':{'name':'c','items':[{'key':'none','path':'p'}]}}",
         "volume 'x': configmap 'c' has no key 'none'", -ERR_NOT_FOUND},
        {"{'name':'x','projected':{'sources':[{'serviceAccountToken':{'path':'t','audience':"
         "'unknown'}}]}}",
         "volume 'x': the token of the service account is not there yet", -ERR_NOT_FOUND},
        {"{'name':'x','projected':{'sources':[{'serviceAccountToken':{'path':'../t'}}]}}",
         "volume 'x': '../t' is no path inside a volume", -ERR_INVALID},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'none'}}",
         "volume 'x': persistentvolumeclaim 'none' not found", -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'waiting'}}",
         "volume 'x': persistentvolumeclaim 'waiting' is not bound: 'kubectl describe pvc waiting' "
         "says what it waits for",
         -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'early'}}",
         "volume 'x': persistentvolume 'later' not found", -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'remote'}}",
         "volume 'x': persistentvolume 'far' is no directory of this machine: only hostPath and "
         "local are supported",
         -ERR_INVALID},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'../up'}}",
         "volume 'x': '../up' is no name of a claim", -ERR_INVALID},
        {"{'name':'x','nfs':{'server':'s'}}",
         "volume 'x': a volume of type nfs is not supported on this machine", -ERR_UNSUPPORTED},
        {"{'name':'x','hostPath':{'path':'/nowhere/at/all'}}",
         "volume 'x': hostPath '/nowhere/at/all': No such file or directory", -ERR_NOT_FOUND},
        {"{'name':'x','hostPath':{'path':'/usr','type':'File'}}",
         "volume 'x': hostPath '/usr' is no File", -ERR_INVALID},
        {"{'name':'x','hostPath':{'path':'usr'}}", "volume 'x': hostPath 'usr' is not absolute",
         -ERR_INVALID},
        {"{'name':'../x','emptyDir':{}}", "'../x' is no name of a volume", -ERR_INVALID},
        {"{'name':'x','configMap':{'name':'c','items':[{'key':'a.txt','path':'../out'}]}}",
         "volume 'x': '../out' is no path inside a volume", -ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct volume v;
        struct err err = ERR_INIT;
        assert_int_equal(prepare(arena, CASES[i].volume, &v, &err), CASES[i].result);
        assert_string_equal(err.message, CASES[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contents), cmocka_unit_test(refreshing),
                                       cmocka_unit_test(refusals)};
    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(root, NULL);
    return failed;
}
