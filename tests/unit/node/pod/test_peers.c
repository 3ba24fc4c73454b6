/* Tests which pods share a directory, and when it is removed. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/system/file.h"
#include "loop/sim/sim_loop.h"
#include "node/pod/peers.h"

#include <stdlib.h>
#include <sys/stat.h>

static const char *name_of(struct arena *arena, const char *namespace_, const char *owner)
{
    struct json *pod = read_json(arena, "{'metadata':{'name':'w-0'}}");
    struct json *metadata = json_ensure_object(arena, pod, "metadata");
    json_set_string(arena, metadata, "namespace", namespace_);
    json_append(json_ensure_array(arena, metadata, "ownerReferences"), read_json(arena, owner));
    return peers_name(arena, pod);
}

static void directory_name_has_the_uid_of_the_job(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_string_equal(name_of(arena, "a",
                                "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','name':'j',"
                                "'uid':'0c2a-1','controller':true}"),
                        "a.0c2a-1");
    assert_string_equal(name_of(arena, "b",
                                "{'apiVersion':'kubeflow.org/v1','kind':'PyTorchJob','name':'j',"
                                "'uid':'0c2a-1','controller':true}"),
                        "b.0c2a-1");
    assert_string_equal(name_of(arena, "a",
                                "{'apiVersion':'batch/v1','kind':'Job','name':'j',"
                                "'uid':'2','controller':true}"),
                        "a.2");
}

static void other_pods_have_no_directory(void **state)
{
    static const char *const OWNERS[] = {
        "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','name':'j','uid':'1'}",
        "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'j','uid':'1','controller':true}",
        "{'apiVersion':'batch/v1','kind':'CronJob','name':'j','uid':'1','controller':true}",
        "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','name':'j','controller':true}",
        "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','name':'j','uid':'../a','controller':true}",
        "{'apiVersion':'kubeflow.org/v1','kind':'TFJob','name':'j','uid':'a/b','controller':true}",
        "{'apiVersion':'kubeflow.org.evil/v1','kind':'TFJob','uid':'1','controller':true}",
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(OWNERS); i++)
        assert_null(name_of(arena, "a", OWNERS[i]));
    assert_null(peers_name(arena, read_json(arena, "{'metadata':{'name':'w-0'}}")));
}

static bool is_kept(void *context, const char *name)
{
    return str_eq(context, name);
}

static void unused_directories_are_removed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *kept, *gone, *removed;
    struct stat info;
    struct loop *loop = sim_loop_new(1, 0);
    struct trash *trash = trash_new(loop, directory);
    peers_sweep(trash, directory, is_kept, NULL); /* before any directory exists */
    assert_int_equal(peers_prepare(arena, directory, "a.1", &kept, NULL), 0);
    assert_int_equal(peers_prepare(arena, directory, "a.1", &kept, NULL), 0);
    assert_int_equal(peers_prepare(arena, directory, "a.2", &gone, NULL), 0);
    assert_int_equal(peers_prepare(arena, directory, "a.3", &removed, NULL), 0);
    assert_int_equal(stat(kept, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0777);
    assert_int_equal(file_write_atomic(arena_printf(arena, "%s/left", gone), "x", 1, 0600, NULL),
                     0);
    peers_throw(trash, directory, "a.3", "uid-1");
    peers_throw(trash, directory, "a.3", "uid-2"); /* the directory does not exist */
    assert_false(file_exists(removed));
    /* The next pod of the job creates the directory again while the old one is being removed. */
    assert_int_equal(peers_prepare(arena, directory, "a.3", &removed, NULL), 0);
    sim_loop_run_for(loop, 1000);
    assert_true(file_exists(removed));
    peers_throw(trash, directory, "a.3", "uid-3");
    assert_false(file_exists(removed));
    peers_sweep(trash, directory, is_kept, (void *)"a.1");
    assert_true(file_exists(kept));
    assert_false(file_exists(gone));
    sim_loop_run_for(loop, 1000);
    assert_false(
        file_exists(arena_printf(arena, "%s/volumes/.deleted/peers.a.2.start", directory)));
    trash_free(trash);
    loop_free(loop);
}

static void directory_is_found_in_the_spec(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec = {0};
    struct pod_container *first = pod_spec_add_container(arena, &spec, "first");
    pod_container_add_mount(arena, first, PEERS_MOUNT, NULL); /* its own memory file system */
    pod_container_add_mount(arena, first, "/elsewhere", "/state/peers/a.1");
    assert_null(peers_of_spec("/state", &spec));
    struct pod_container *second = pod_spec_add_container(arena, &spec, "second");
    struct pod_mount *mount =
        pod_container_add_mount(arena, second, PEERS_MOUNT, "/statement/peers/a.1");
    assert_null(peers_of_spec("/state", &spec));
    mount->source = "/state/peers/a.1";
    assert_string_equal(peers_of_spec("/state", &spec), "a.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directory_name_has_the_uid_of_the_job),
        cmocka_unit_test(other_pods_have_no_directory),
        cmocka_unit_test(unused_directories_are_removed),
        cmocka_unit_test(directory_is_found_in_the_spec),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
