/* Tests the disk usage of pods: what is counted, and the kubelet's messages for pods that use too
 * much. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/system/file.h"
#include "node/limits/storage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *name, size_t size)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    _cleanup_free_ char *parent = mem_strdup(path);
    _cleanup_free_ char *data = mem_alloc(size + 1);
    *strrchr(parent, '/') = '\0';
    memset(data, 'x', size);
    if (file_make_dirs(parent, 0755, &err) < 0 ||
        file_write_atomic(path, data, size, 0600, &err) < 0)
        fail_msg("%s", err.message);
}

static const char POD[] =
    "{'spec':{'volumes':["
    "  {'name':'small','emptyDir':{'sizeLimit':'%s'}},{'name':'free','emptyDir':{}},"
    "  {'name':'memory','emptyDir':{'medium':'Memory','sizeLimit':'1Ki'}},"
    "  {'name':'claim','persistentVolumeClaim':{'claimName':'c'}},"
    "  {'name':'files','configMap':{'name':'c'}}],"
    " 'initContainers':[{'name':'init','resources':{'limits':{'ephemeral-storage':'1Ki'}}}],"
    " 'containers':[{'name':'main','resources':{'limits':{'ephemeral-storage':'%s'}}},"
    "  {'name':'main2','resources':{'limits':{'ephemeral-storage':'%s'}}}]}}";

static const char *judge(struct arena *arena, const char *volume, const char *main,
                         const char *second)
{
    const struct json *pod = read_json(arena, arena_printf(arena, POD, volume, main, second));
    struct storage_place *places;
    assert_true(storage_is_limited(pod));
    size_t count = storage_places(arena, pod, directory, &places);
    assert_int_equal(count, 3 + 3 * 2);
    storage_measure(places, count);
    return storage_judge(arena, pod, places, count);
}

/* 300 KiB in a volume, 200 and 50 KiB in the containers, and files that are not counted. */
static void exceeded_limits_have_the_kubelets_messages(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    put("volumes/small/deep/er/file", 300 << 10);
    put("layers/main/upper/file", 150 << 10);
    put("logs/main.0.log", 50 << 10);
    put("logs/main2.0.log", 50 << 10);
    put("volumes/memory/file", 900 << 10);
    put("volumes/claim/file", 900 << 10);
    assert_null(judge(arena, "400Ki", "300Ki", "300Ki"));
    assert_string_equal(judge(arena, "200Ki", "300Ki", "300Ki"),
                        "Usage of EmptyDir volume \"small\" exceeds the limit \"200Ki\". ");
    assert_string_equal(
        judge(arena, "400Ki", "300Ki", "200Ki"),
        "Pod ephemeral local storage usage exceeds the total limit of containers 500Ki. ");
    assert_string_equal(judge(arena, "400Ki", "150Ki", "1Gi"),
                        "Container main exceeded its local ephemeral storage limit \"150Ki\". ");
    /* The log of main does not count for main2. */
    assert_null(judge(arena, "400Ki", "1Gi", "90Ki"));
}

static void hard_links_are_counted_once(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    put("volumes/small/file", 300 << 10);
    _cleanup_free_ char *from = mem_printf("%s/volumes/small/file", directory);
    _cleanup_free_ char *to = mem_printf("%s/volumes/small/again", directory);
    assert_int_equal(link(from, to), 0);
    assert_null(judge(arena, "400Ki", "1Gi", "1Gi"));
    /* Files behind a link out of the volume do not count. */
    put("elsewhere/file", 300 << 10);
    _cleanup_free_ char *out = mem_printf("%s/elsewhere", directory);
    _cleanup_free_ char *name = mem_printf("%s/volumes/small/out", directory);
    assert_int_equal(symlink(out, name), 0);
    assert_null(judge(arena, "400Ki", "1Gi", "1Gi"));
}

/* A directory that an ordinary user cannot enter hides only its own files, and the gap is reported.
 * Root switches to another user for this test. */
static void unreadable_directory_hides_only_its_files(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = read_json(arena, arena_printf(arena, POD, "200Ki", "1Gi", "1Gi"));
    static const struct {
        mode_t mode;
        bool hides;
    } CASES[] = {{0000, true}, {0400, true}, {0700, false}};
    const bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(chown(directory, 65534, (gid_t)-1) + seteuid(65534), 0);
    put("volumes/small/a/file", 50 << 10);
    put("volumes/small/b/file", 100 << 10);
    put("volumes/small/c/file", 50 << 10);
    char *closed = arena_printf(arena, "%s/volumes/small/b", directory);
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct storage_place *places;
        size_t count = storage_places(arena, pod, directory, &places);
        assert_int_equal(chmod(closed, CASES[i].mode), 0);
        storage_measure(places, count);
        assert_true(places[0].used >= (CASES[i].hides ? 100 << 10 : 200 << 10));
        const char *gap = storage_gap(arena, places, count);
        assert_int_equal(gap != NULL, CASES[i].hides);
        if (gap)
            assert_non_null(strstr(gap, "1 directories in '"));
        assert_int_equal(storage_judge(arena, pod, places, count) != NULL, !CASES[i].hides);
    }
    if (is_root)
        assert_int_equal(seteuid(0), 0);
}

/* A tree that is too large to be measured exceeds the limit, even if it takes no space. */
static void too_deep_tree_exceeds_the_limit(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    put("volumes/free/file", 1);
    _cleanup_free_ char *path = mem_printf("%s/volumes/free", directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < STORAGE_DEPTH_MAX; i++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        int inner = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = inner;
    }
    close(fd);
    const char *message = judge(arena, "1Ti", "1Ti", "1Ti");
    assert_non_null(message);
    assert_non_null(
        strstr(message,
               "more than 1000000 files and directories, directories nested more than 4096 deep"));
}

/* In a pod without any limit, only the files that its containers wrote outside of volumes count,
 * and their number does not. */
static void container_without_a_limit_has_the_default_limit(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod =
        read_json(arena, "{'spec':{'volumes':[{'name':'free','emptyDir':{}}],"
                         " 'initContainers':[{'name':'init'}],'containers':[{'name':'main'}]}}");
    struct storage_place *places;
    assert_false(storage_is_limited(pod));
    put("layers/main/out", 100 << 10);
    size_t count = storage_places(arena, pod, directory, &places);
    assert_int_equal(count, 2);
    storage_measure(places, count);
    assert_true(places[0].used >= 100 << 10);
    places[0].is_beyond = true;
    assert_null(storage_judge(arena, pod, places, count));
    places[0].is_beyond = false;
    places[0].used = STORAGE_LAYER_MAX;
    assert_null(storage_judge(arena, pod, places, count));
    places[0].used++;
    assert_string_equal(storage_judge(arena, pod, places, count),
                        "Container main wrote more than 20Gi, the default limit, outside of its "
                        "volumes: write to a "
                        "volume, or set resources.limits.ephemeral-storage. ");
    /* The container's own limit may be larger. */
    pod = read_json(arena, "{'spec':{'containers':[{'name':'main','resources':{'limits':{"
                           "'ephemeral-storage':'40Gi'}}}]}}");
    assert_null(storage_judge(arena, pod, places, 1));
}

/* Sidecars run at the same time as the containers. Each init container runs before them, together
 * with the sidecars started by then. */
static void limits_of_sidecars_are_added(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct {
        const char *init; /* limit of the init container between the sidecars */
        int64_t used_ki;
        const char *whole; /* the limit that is exceeded, or NULL */
    } CASES[] = {
        {"1Ki", 60, NULL},
        {"1Ki", 61, "60Ki"},
        {"80Ki", 90, NULL},
        {"80Ki", 91, "90Ki"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const struct json *pod = read_json(
            arena, arena_printf(arena,
                                "{'spec':{'initContainers':["
                                " {'name':'a','restartPolicy':'Always',"
                                "  'resources':{'limits':{'ephemeral-storage':'10Ki'}}},"
                                " {'name':'i','resources':{'limits':{'ephemeral-storage':'%s'}}},"
                                " {'name':'b','restartPolicy':'Always',"
                                "  'resources':{'limits':{'ephemeral-storage':'20Ki'}}}],"
                                " 'containers':[{'name':'c',"
                                "  'resources':{'limits':{'ephemeral-storage':'30Ki'}}}]}}",
                                CASES[i].init));
        const struct storage_place place = {
            .kind = STORAGE_LAYER, .name = "a", .used = CASES[i].used_ki << 10};
        const char *message = storage_judge(arena, pod, &place, 1);
        if (!CASES[i].whole)
            assert_null(message);
        else
            assert_string_equal(message, arena_printf(arena,
                                                      "Pod ephemeral local storage usage exceeds "
                                                      "the total limit of containers %s. ",
                                                      CASES[i].whole));
    }
}

static void pods_with_a_storage_limit_are_found(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_false(storage_is_limited(
        read_json(arena, "{'spec':{'volumes':[{'name':'e','emptyDir':{'sizeLimit':'0'}},"
                         "{'name':'f','emptyDir':{}}],'containers':[{'name':'c',"
                         "'resources':{'requests':{'ephemeral-storage':'1Gi'}}}]}}")));
    assert_false(storage_is_limited(
        read_json(arena, "{'spec':{'volumes':[{'name':'m','emptyDir':{'medium':'Memory',"
                         "'sizeLimit':'1Gi'}}]}}")));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exceeded_limits_have_the_kubelets_messages),
        TEST(hard_links_are_counted_once),
        TEST(unreadable_directory_hides_only_its_files),
        TEST(too_deep_tree_exceeds_the_limit),
        TEST(container_without_a_limit_has_the_default_limit),
        cmocka_unit_test(limits_of_sidecars_are_added),
        TEST(pods_with_a_storage_limit_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
