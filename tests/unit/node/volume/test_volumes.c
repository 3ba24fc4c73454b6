/* Tests volumes: each kind becomes a directory with the right content, or is rejected with its
 * name. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/volume/files.h"
#include "node/volume/group.h"
#include "node/volume/set.h"

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
        .pod = read_json(arena,
                         "{'metadata':{'name':'p','namespace':'n','uid':'1','labels':{'b':'2','a':"
                         "'say\\n1'}},'spec':{'containers':[{'name':'m','resources':"
                         "{'limits':{'memory':'1500Ki'}}}]}}"),
        .hostname = "p",
        .address = "10.244.1.2",
        .host_address = "127.0.0.1",
        .capacity = read_json(arena, "{'cpu':'8'}")};
    const struct node_objects objects = {
        get_object,
        read_json(arena,
                  "{'configmaps':{'c':{'metadata':{'name':'c'},'data':{'a.txt':'A','b.txt':'B'},'"
                  "binaryData':{'z':"
                  "'AQI='}}},"
                  " 'secrets':{'s':{'data':{'p':'aHVzaA=='}}},"
                  " 'persistentvolumeclaims':{"
                  "   'claim':{'spec':{'volumeName':'made'},'status':{'phase':'Bound'}},"
                  "   'p-mine':{'metadata':{'ownerReferences':[{'controller':true,'uid':'1'}]},"
                  "     'spec':{'volumeName':'own'},'status':{'phase':'Bound'}},"
                  "   'p-theirs':{'metadata':{'name':'p-theirs','namespace':'n'},"
                  "     'spec':{'volumeName':'made'},'status':{'phase':'Bound'}},"
                  "   'by-hand':{'spec':{'volumeName':'v'},'status':{'phase':'Bound'}},"
                  "   'remote':{'spec':{'volumeName':'far'},'status':{'phase':'Bound'}},"
                  "   'early':{'spec':{'volumeName':'later'},'status':{'phase':'Bound'}},"
                  "   'raw':{'spec':{'volumeMode':'Block'},'status':{'phase':'Bound'}},"
                  "   'waiting':{'spec':{'volumeName':'v'},'status':{'phase':'Pending'}}},"
                  " 'persistentvolumes':{'v':{'spec':{'hostPath':{'path':'/usr/share'}}},"
                  "   'made':{'metadata':{'annotations':{'trainyard.dev/volume':'n/claim'}}},"
                  "   'own':{'metadata':{'annotations':{'trainyard.dev/volume':'n/own'}}},"
                  "   'far':{'spec':{'nfs':{'server':'s','path':'/'}}}}}")};
    struct map tokens = {0};
    map_put(&tokens, "", (char[]){"of the API"});
    map_put(&tokens, "vault", (char[]){"of the vault"});
    const struct volume_context context = {.state_dir = root,
                                           .pod_dir = arena_printf(arena, "%s/pod", root),
                                           .facts = &facts,
                                           .objects = &objects,
                                           .tokens = &tokens,
                                           .group = -1};
    int result = volume_prepare(arena, &context, read_json(arena, volume), ret, err);
    map_release(&tokens);
    return result;
}

static void assert_file(const struct volume *volume, const char *name, const char *content)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", volume->source, name);
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    struct err err = ERR_INIT;
    if (file_read(path, &text, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text.data, content);
}

/* Like the runner of a pod after a change of the config map "c". */
static int refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct err *err)
{
    return volume_files_show(volume, &KUBE_CONFIGMAPS, "c")
               ? volume_refresh(arena, context, volume, err)
               : 0;
}

/* A config map changes while a pod uses it: as a whole, in part, and together with other
 * sources. */
static void changed_config_map_is_refreshed(void **state)
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
                                           .tokens = &tokens,
                                           .group = -1};
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
        if (refresh(arena, &context, read_json(arena, volumes[i]), &err) < 0)
            fail_msg("%s", err.message);
    assert_file(&made[0], "a", "3");
    assert_file(&made[0], "n", "5");
    assert_file(&made[1], "x/y", "3");
    assert_file(&made[2], "a", "hush");
    assert_file(&made[2], "b", "4");
    assert_file(&made[3], "a", "hush");
    /* A key is removed. If the volume names the key, the refresh fails, and the files stay. */
    json_set(arena, json_at(world, "configmaps", "c", NULL), "data", read_json(arena, "{'b':'6'}"));
    assert_int_equal(refresh(arena, &context, read_json(arena, volumes[0]), &err), 0);
    _cleanup_free_ char *gone = mem_printf("%s/a", made[0].source);
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_file(&made[0], "b", "6");
    assert_true(refresh(arena, &context, read_json(arena, volumes[1]), &err) < 0);
    assert_file(&made[1], "x/y", "3");
}

static void volumes_have_their_content(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct volume v;
    struct err err = ERR_INIT;
    struct stat info;
    assert_int_equal(prepare(arena, "{'name':'e','emptyDir':{}}", &v, &err), 0);
    assert_int_equal(stat(v.source, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0777);
    assert_false(v.read_only);
    assert_false(v.memory);
    assert_int_equal(
        prepare(arena, "{'name':'m','emptyDir':{'medium':'Memory','sizeLimit':'1Mi'}}", &v, &err),
        0);
    assert_true(v.memory && str_has_suffix(v.source, "/volumes/m"));
    assert_int_equal(v.size, 1024 * 1024);
    assert_int_equal(prepare(arena, "{'name':'c','configMap':{'name':'c'}}", &v, &err), 0);
    assert_true(v.read_only);
    assert_file(&v, "a.txt", "A");
    assert_file(&v, "z", "\1\2");
    assert_int_equal(prepare(arena,
                             "{'name':'i','configMap':{'name':'c','items':[{'key':'b.txt','path':"
                             "'x/y','mode':256}]}}",
                             &v, &err),
                     0);
    assert_file(&v, "x/y", "B");
    _cleanup_free_ char *left_out = mem_printf("%s/a.txt", v.source);
    assert_false(file_exists(left_out));
    /* An empty list selects no keys, so all keys are files, as without a list. */
    assert_int_equal(prepare(arena, "{'name':'n','configMap':{'name':'c','items':[]}}", &v, &err),
                     0);
    assert_file(&v, "a.txt", "A");
    assert_file(&v, "b.txt", "B");
    assert_file(&v, "z", "\1\2");
    assert_int_equal(
        prepare(arena, "{'name':'b','configMap':{'name':'c','items':[{'key':'z','path':'bytes'}]}}",
                &v, &err),
        0);
    assert_file(&v, "bytes", "\1\2");
    assert_int_equal(prepare(arena, "{'name':'s','secret':{'secretName':'s'}}", &v, &err), 0);
    assert_file(&v, "p", "hush");
    assert_int_equal(
        prepare(arena,
                "{'name':'d','downwardAPI':{'items':[{'path':'labels','fieldRef':{'fieldPath':"
                "'metadata.labels'}},{'path':'name','fieldRef':{'fieldPath':'metadata.name'}},"
                "{'path':'m','resourceFieldRef':{'containerName':'m','resource':'limits.memory',"
                "'divisor':'1Mi'}},{'path':'cpu','resourceFieldRef':{'containerName':'m',"
                "'resource':'limits.cpu','divisor':'1m'}}]}}",
                &v, &err),
        0);
    assert_file(&v, "labels", "a=\"say\\n1\"\nb=\"2\"");
    assert_file(&v, "name", "p");
    assert_file(&v, "m", "2");      /* rounded up */
    assert_file(&v, "cpu", "8000"); /* without a limit: the amount of the node */
    assert_int_equal(prepare(arena,
                             "{'name':'p','projected':{'sources':[{'configMap':{'name':'c'}},{'"
                             "secret':{'name':'s'}},{'serviceAccountToken':{'path':'t'}},"
                             "{'serviceAccountToken':{'path':'deep/v','audience':'vault'}}]}}",
                             &v, &err),
                     0);
    assert_file(&v, "t", "of the API");
    assert_file(&v, "deep/v", "of the vault");
    assert_file(&v, "b.txt", "B");
    assert_file(&v, "p", "hush");
    assert_int_equal(
        prepare(arena, "{'name':'v','persistentVolumeClaim':{'claimName':'claim'}}", &v, &err), 0);
    assert_true(str_has_suffix(v.source, "/volumes/n/claim"));
    assert_int_equal(
        prepare(arena, "{'name':'v','persistentVolumeClaim':{'claimName':'by-hand'}}", &v, &err),
        0);
    assert_string_equal(v.source, "/usr/share");
    assert_int_equal(prepare(arena, "{'name':'mine','ephemeral':{}}", &v, &err), 0);
    assert_true(str_has_suffix(v.source, "/volumes/n/own"));
    assert_int_equal(prepare(arena, "{'name':'h','hostPath':{'path':'/usr'}}", &v, &err), 0);
    assert_string_equal(v.source, "/usr");
}

static struct volume_set make_set(struct arena *arena, const char *value)
{
    struct volume_set set = {.arena = arena};
    assert_int_equal(volume_set_add(&set, "one", value, strlen(value), 0644, NULL), 0);
    assert_int_equal(volume_set_add(&set, "deep/two", value, strlen(value), 0400, NULL), 0);
    return set;
}

/* Both files of a set change at the same moment. A process that keeps the directory behind "..data"
 * open sees the old state, and a process that opens it later sees the new one. */
static void files_of_a_set_change_atomically(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct volume v = {.source = arena_printf(arena, "%s/set", root)};
    char *data = arena_printf(arena, "%s/..data", v.source), before[256], after[256];
    struct volume_set first = make_set(arena, "1"), second = make_set(arena, "2");
    struct stat info;
    assert_int_equal(volume_set_publish(&first, v.source, -1, NULL), 0);
    assert_file(&v, "one", "1");
    assert_file(&v, "deep/two", "1");
    assert_int_equal(stat(arena_printf(arena, "%s/deep/two", v.source), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0400);
    ssize_t size = readlink(data, before, sizeof(before));
    assert_true(size > 0 && strncmp(before, "..2", 3) == 0);
    /* Publishing the same content changes nothing, so that programs that watch it are not woken. */
    assert_int_equal(volume_set_publish(&first, v.source, -1, NULL), 0);
    assert_int_equal(readlink(data, after, sizeof(after)), size);
    assert_memory_equal(before, after, (size_t)size);

    assert_int_equal(volume_set_publish(&second, v.source, -1, NULL), 0);
    assert_file(&v, "one", "2");
    assert_file(&v, "deep/two", "2");
    char *old = arena_printf(arena, "%s/%.*s", v.source, (int)size, before);
    assert_false(file_exists(old));
    /* A file that is no longer in the set is removed. After a failed write nothing has changed. */
    second.count = 1;
    assert_int_equal(volume_set_publish(&second, v.source, -1, NULL), 0);
    assert_false(file_exists(arena_printf(arena, "%s/deep", v.source)));
    struct volume_set bad = make_set(arena, "3");
    assert_int_equal(volume_set_add(&bad, "one/below", "x", 1, 0644, NULL), 0);
    assert_true(volume_set_publish(&bad, v.source, -1, NULL) < 0);
    assert_file(&v, "one", "2");
}

/* After a reboot the same set is written again, because its files may be empty. */
static void set_is_rewritten_after_a_reboot(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct volume v = {.source = arena_printf(arena, "%s/booted", root)};
    struct volume_set set = make_set(arena, "1");
    set.boot = "one";
    assert_int_equal(volume_set_publish(&set, v.source, -1, NULL), 0);
    assert_int_equal(truncate(arena_printf(arena, "%s/one", v.source), 0), 0);
    assert_int_equal(volume_set_publish(&set, v.source, -1, NULL), 0);
    assert_file(&v, "one", "");
    set.boot = "another";
    assert_int_equal(volume_set_publish(&set, v.source, -1, NULL), 0);
    assert_file(&v, "one", "1");
    assert_file(&v, "deep/two", "1");
}

/* A changed mode counts as a change, and is limited to the permission bits. A directory of an
 * earlier version's layout is replaced. */
static void changed_modes_of_a_set_are_applied(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct volume v = {.source = arena_printf(arena, "%s/modes", root)};
    static const mode_t MODES[] = {0644, 04640, 0600};
    char *file = arena_printf(arena, "%s/one", v.source);
    struct stat info;
    assert_int_equal(file_make_dirs(arena_printf(arena, "%s/below", file), 0755, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(MODES); i++) {
        struct volume_set set = {.arena = arena};
        assert_int_equal(volume_set_add(&set, "one", "1", 1, MODES[i], NULL), 0);
        assert_int_equal(volume_set_publish(&set, v.source, -1, NULL), 0);
        assert_file(&v, "one", "1");
        assert_int_equal(stat(file, &info), 0);
        assert_int_equal(info.st_mode & 07777, MODES[i] & 0777);
    }
}

/* The volume's group can read all readable files, and new files inherit the group. */
static void fs_group_owns_the_volume(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *volume = arena_printf(arena, "%s/group", root), *inner, *file;
    char *outside = arena_printf(arena, "%s/outside", root);
    struct stat info;
    int64_t group = geteuid() == 0 ? 4242 : getegid(); /* an ordinary user has only its own group */
    inner = arena_printf(arena, "%s/in", volume);
    file = arena_printf(arena, "%s/f", inner);
    assert_int_equal(file_make_dirs(inner, 0700, NULL), 0);
    assert_int_equal(file_write_atomic(file, "x", 1, 0600, NULL), 0);
    assert_int_equal(file_make_dirs(outside, 0700, NULL), 0);
    assert_int_equal(symlink(outside, arena_printf(arena, "%s/out", volume)), 0);
    assert_int_equal(mkfifo(arena_printf(arena, "%s/fifo", volume), 0600), 0);
    assert_int_equal(volume_group_give(volume, group, false, NULL), 0);
    assert_true(volume_group_is(volume, group));
    assert_true(stat(inner, &info) == 0 && info.st_gid == group);
    assert_int_equal(info.st_mode & 07777, 02770);
    assert_true(stat(file, &info) == 0 && info.st_gid == group);
    assert_int_equal(info.st_mode & 07777, 0660);
    assert_true(stat(outside, &info) == 0 && (info.st_mode & 07777) == 0700);
}

static void invalid_volumes_are_rejected(void **state)
{
    static const struct {
        const char *volume, *message;
        int result;
    } CASES[] = {
        {"{'name':'x','configMap':{'name':'none'}}",
         "MountVolume.SetUp failed for volume \"x\" : configmap \"none\" not found",
         -ERR_NOT_FOUND},
        {"{'name':'x','configMap':{'name':'c','items':[{'key':'none','path':'p'}]}}",
         "MountVolume.SetUp failed for volume \"x\" : configmap \"c\" references non-existent "
         "config key: none",
         -ERR_NOT_FOUND},
        {"{'name':'x','projected':{'sources':[{'serviceAccountToken':{'path':'t','audience':"
         "'unknown'}}]}}",
         "MountVolume.SetUp failed for volume \"x\" : the token of the service account has not "
         "been issued yet",
         -ERR_NOT_FOUND},
        {"{'name':'x','projected':{'sources':[{'serviceAccountToken':{'path':'../t'}}]}}",
         "MountVolume.SetUp failed for volume \"x\" : '../t' is not a path inside a volume",
         -ERR_INVALID},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'none'}}",
         "MountVolume.SetUp failed for volume \"x\" : persistentvolumeclaim \"none\" not found",
         -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'waiting'}}",
         "MountVolume.SetUp failed for volume \"x\" : persistentvolumeclaim \"waiting\" is not "
         "bound: 'kubectl describe pvc waiting' "
         "says what it waits for",
         -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'early'}}",
         "MountVolume.SetUp failed for volume \"x\" : persistentvolume \"later\" not found",
         -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'remote'}}",
         "MountVolume.SetUp failed for volume \"x\" : persistentvolume \"far\" is not a directory "
         "of "
         "this machine: only hostPath and "
         "local are supported",
         -ERR_INVALID},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'../up'}}",
         "MountVolume.SetUp failed for volume \"x\" : '../up' is not a valid claim name",
         -ERR_INVALID},
        {"{'name':'theirs','ephemeral':{}}",
         "MountVolume.SetUp failed for volume \"theirs\" : PVC n/p-theirs was not created for pod "
         "n/p (pod is not owner)",
         -ERR_NOT_FOUND},
        {"{'name':'none','ephemeral':{}}",
         "MountVolume.SetUp failed for volume \"none\" : persistentvolumeclaim \"p-none\" not "
         "found",
         -ERR_NOT_FOUND},
        {"{'name':'x','nfs':{'server':'s'}}",
         "MountVolume.SetUp failed for volume \"x\" : a volume of type nfs is not supported on "
         "this machine: mount it on this machine and use hostPath, or copy the data into a "
         "persistentVolumeClaim",
         -ERR_UNSUPPORTED},
        {"{'name':'x','hostPath':{'path':'/nowhere/at/all'}}",
         "MountVolume.SetUp failed for volume \"x\" : hostPath '/nowhere/at/all' does not exist "
         "(type DirectoryOrCreate or FileOrCreate creates it)",
         -ERR_NOT_FOUND},
        {"{'name':'x','hostPath':{'path':'/usr','type':'File'}}",
         "MountVolume.SetUp failed for volume \"x\" : hostPath type check failed: /usr is not a "
         "file",
         -ERR_NOT_FOUND},
        {"{'name':'x','hostPath':{'path':'usr'}}",
         "MountVolume.SetUp failed for volume \"x\" : hostPath 'usr' is not absolute",
         -ERR_INVALID},
        {"{'name':'x','hostPath':{'path':'/dev/null','type':'BlockDevice'}}",
         "MountVolume.SetUp failed for volume \"x\" : hostPath type check failed: /dev/null is not "
         "a block device",
         -ERR_NOT_FOUND},
        {"{'name':'x','hostPath':{'path':'/usr','type':'Socket'}}",
         "MountVolume.SetUp failed for volume \"x\" : hostPath type check failed: /usr is not a "
         "socket file",
         -ERR_NOT_FOUND},
        {"{'name':'x','persistentVolumeClaim':{'claimName':'raw'}}",
         "MountVolume.SetUp failed for volume \"x\" : persistentvolumeclaim \"raw\" has volumeMode "
         "Block, and volumes are directories on this machine: use volumeMode Filesystem",
         -ERR_UNSUPPORTED},
        {"{'name':'x','gitRepo':{'repository':'r'}}",
         "MountVolume.SetUp failed for volume \"x\" : a volume of type gitRepo is not supported on "
         "this machine: clone it into an emptyDir in an init container",
         -ERR_UNSUPPORTED},
        {"{'name':'x','configMap':{'name':'c','items':[{'key':'a.txt','path':'..data'}]}}",
         "MountVolume.SetUp failed for volume \"x\" : '..data' is not a path inside a volume",
         -ERR_INVALID},
        {"{'name':'../x','emptyDir':{}}", "'../x' is not a valid volume name", -ERR_INVALID},
        {"{'name':'x','configMap':{'name':'c','items':[{'key':'a.txt','path':'../out'}]}}",
         "MountVolume.SetUp failed for volume \"x\" : '../out' is not a path inside a volume",
         -ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct volume v;
        struct err err = ERR_INIT;
        assert_int_equal(prepare(arena, CASES[i].volume, &v, &err), CASES[i].result);
        assert_string_equal(err.message, CASES[i].message);
    }
}

/* Neither the state directory nor a path in it can be a volume, by any symbolic link or "..". */
static void state_directory_is_rejected_as_host_path(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *below = arena_printf(arena, "%s/below", root);
    const char *beside = arena_printf(arena, "%s-beside", root);
    const char *link = arena_printf(arena, "%s-link", root);
    assert_int_equal(file_make_dirs(below, 0700, NULL), 0);
    assert_int_equal(file_make_dirs(beside, 0700, NULL), 0);
    assert_int_equal(symlink(root, link), 0);
    const char *const paths[] = {root, below, link,
                                 arena_printf(arena, "%s/../%s", beside, root + 5)};
    struct volume v;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct err err = ERR_INIT;
        const char *volume = arena_printf(arena, "{'name':'x','hostPath':{'path':'%s'}}", paths[i]);
        assert_int_equal(prepare(arena, volume, &v, &err), -ERR_FORBIDDEN);
        assert_string_equal(err.message,
                            arena_printf(arena,
                                         "MountVolume.SetUp failed for volume \"x\" : hostPath "
                                         "'%s' lies in the state directory of this cluster: use a "
                                         "persistentVolumeClaim, or a directory elsewhere",
                                         paths[i]));
    }
    /* Nothing is created there before the path is refused. */
    struct err refusal = ERR_INIT;
    const char *missing = arena_printf(arena, "%s/missing/directory", link);
    assert_int_equal(prepare(arena,
                             arena_printf(arena,
                                          "{'name':'x','hostPath':{'path':'%s',"
                                          "'type':'DirectoryOrCreate'}}",
                                          missing),
                             &v, &refusal),
                     -ERR_FORBIDDEN);
    assert_false(file_exists(missing));
    assert_false(file_exists(arena_printf(arena, "%s/missing", root)));
    /* A directory whose name only begins like the state directory is accepted. */
    const char *volume = arena_printf(arena, "{'name':'x','hostPath':{'path':'%s'}}", beside);
    assert_int_equal(prepare(arena, volume, &v, NULL), 0);
    assert_string_equal(v.source, beside);
    unlink(link);
    rmdir(beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(volumes_have_their_content),
                                       cmocka_unit_test(changed_config_map_is_refreshed),
                                       cmocka_unit_test(files_of_a_set_change_atomically),
                                       cmocka_unit_test(set_is_rewritten_after_a_reboot),
                                       cmocka_unit_test(changed_modes_of_a_set_are_applied),
                                       cmocka_unit_test(fs_group_owns_the_volume),
                                       cmocka_unit_test(invalid_volumes_are_rejected),
                                       cmocka_unit_test(state_directory_is_rejected_as_host_path)};
    if (!mkdtemp(root))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(root, NULL);
    return failed;
}
