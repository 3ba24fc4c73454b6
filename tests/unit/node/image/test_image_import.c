/* Tests the import of images: an image is imported as a whole or not at all, its digests are
 * checked, and a failed import leaves nothing. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/image/store.h"
#include "node/image/table.h"
#include "node/node.h"
#include "node/pod/record/spec.h"
#include "node/pod/record/state.h"
#include "tar_write.h"
#include "tls/tls.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

enum { ARCHIVE_MAX = 64 * 1024 * 1024 };

static char scratch[] = "/tmp/trainyard-import.XXXXXX";
static char *state_dir, *file;

static char *digest_of(struct arena *arena, const struct buf *data)
{
    char text[TLS_SHA256_TEXT];
    _cleanup_(cleanup_tls_sha256) struct tls_sha256 *sum = tls_sha256_new();
    tls_sha256_add(sum, data->data, data->size);
    tls_sha256_end(sum, text);
    return arena_strdup(arena, text);
}

static const char *machine(void)
{
    struct utsname name;
    uname(&name);
    return strcmp(name.machine, "x86_64") == 0    ? "amd64"
           : strcmp(name.machine, "aarch64") == 0 ? "arm64"
                                                  : "unknown";
}

static void compress_gzip(const struct buf *from, struct buf *to)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)from->data;
    z.avail_in = (unsigned)from->size;
    size_t room = deflateBound(&z, from->size);
    z.next_out = (unsigned char *)buf_reserve(to, room);
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_commit(to, room - z.avail_out);
    deflateEnd(&z);
}

/* The defects of an archive, if any. */
struct flaw {
    const char *diff_id, *machine, *layer_name;
    bool gzip, nameless, bomb, other_config;
    bool blob, other_blob; /* the layer's name is a digest: its own, or that of another file */
};

static void make_archive(struct arena *arena, const struct flaw *flaw)
{
    _cleanup_buf_ struct buf layer, packed, archive, config;
    buf_init(&layer, ARCHIVE_MAX);
    buf_init(&packed, ARCHIVE_MAX);
    buf_init(&archive, ARCHIVE_MAX);
    buf_init(&config, 4096);
    tar_put(&layer, '5', "etc", "");
    tar_put(&layer, '0', "etc/file", "content");
    tar_put_data(&layer, '5', "closed", "", 0, "", 0);
    if (flaw->bomb) {
        char *zeros = mem_zalloc(8 * 1024 * 1024);
        tar_put_data(&layer, '0', "bomb", "", 0644, zeros, 8 * 1024 * 1024);
        free(zeros);
    }
    tar_end(&layer);
    const char *diff_id = flaw->diff_id ? flaw->diff_id : digest_of(arena, &layer);
    if (flaw->gzip)
        compress_gzip(&layer, &packed);
    buf_printf(&config,
               "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Entrypoint\":[\"/e\"],"
               "\"Cmd\":[\"c\"],\"User\":\"1:2\"},\"rootfs\":{\"diff_ids\":[\"sha256:%s\"]}}",
               flaw->machine ? flaw->machine : machine(), diff_id);
    const char *name = arena_printf(arena, "%s.json", digest_of(arena, &config));
    if (flaw->other_config)
        buf_append_char(&config, ' ');
    const struct buf *stored = flaw->gzip ? &packed : &layer;
    const char *layer_name = "m/n/layer.tar";
    if (flaw->blob || flaw->other_blob)
        layer_name = arena_printf(arena, "blobs/sha256/%s",
                                  digest_of(arena, flaw->other_blob ? &config : stored));
    tar_put_data(&archive, '0', "l/layer.tar", "", 0644, stored->data, stored->size);
    tar_put(&archive, '2', layer_name, "../../l/layer.tar");
    tar_put_data(&archive, '0', name, "", 0644, config.data, config.size);
    tar_put(&archive, '0', "manifest.json",
            arena_printf(arena, "[{\"Config\":\"%s\",\"RepoTags\":%s,\"Layers\":[\"%s\"]}]", name,
                         flaw->nameless ? "null" : "[\"x/y:1\",\"docker.io/library/z\"]",
                         flaw->layer_name ? flaw->layer_name : layer_name));
    tar_end(&archive);
    file_write_atomic(file, archive.data, archive.size, 0600, NULL);
}

static int import_image(struct arena *arena, const char *name, struct json **ret, struct err *err)
{
    const struct node_image_import import = {.state_dir = state_dir,
                                             .file = file,
                                             .name = name,
                                             .bytes_max = 1024 * 1024,
                                             .files_max = 100};
    return node_image_import(arena, &import, ret, err);
}

static size_t count_images(void)
{
    _cleanup_free_ char *path = mem_printf("%s/images", state_dir);
    DIR *entries = opendir(path);
    size_t count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0;
    if (entries)
        closedir(entries);
    return count;
}

static void valid_archives_are_imported(void **state)
{
    static const struct flaw NONE[] = {
        {.blob = false}, {.gzip = true}, {.gzip = true, .blob = true}};
    for (size_t k = 0; k < ARRAY_SIZE(NONE); k++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *rows, *table;
        struct image image;
        struct err err = ERR_INIT;
        make_archive(arena, &NONE[k]);
        for (int i = 0; i < 2; i++) { /* the second time the image exists already */
            if (import_image(arena, NULL, &rows, &err) < 0)
                fail_msg("%s", err.message);
            assert_int_equal(json_count(rows), 2);
            assert_string_equal(json_get_string(rows->first, "name", ""), "x/y:1");
            assert_string_equal(json_get_string(rows->last, "name", ""), "z:latest");
            assert_int_equal(json_get_int(rows->first, "size", 0), 7);
            assert_int_equal(count_images(), 1);
        }
        assert_int_equal(image_table_load(arena, state_dir, &table, NULL), 0);
        assert_true(image_table_find(arena, state_dir, table, "docker.io/z", &image));
        assert_string_equal(image.command.items[0], "/e");
        assert_string_equal(image.args.items[0], "c");
        assert_string_equal(image.user, "1:2");
        assert_true(file_exists(arena_printf(arena, "%s/etc/file", image.root)));
        /* The files are removed with the last name, even if their directories have no
         * permissions. */
        assert_int_equal(node_image_remove(state_dir, "x/y:1", NULL), 0);
        assert_int_equal(count_images(), 1);
        assert_int_equal(node_image_remove(state_dir, "z", NULL), 0);
        assert_int_equal(count_images(), 0);
    }
}

static void invalid_archives_leave_no_files(void **state)
{
    static const struct {
        struct flaw flaw;
        const char *name, *error;
    } CASES[] = {
        {{.diff_id = "0000000000000000000000000000000000000000000000000000000000000000"},
         NULL,
         "digest does not match"},
        {{.diff_id = "none"}, NULL, "no sha256 digest"},
        {{.machine = "m68k"}, NULL, "the image is for linux/m68k, but this machine is"},
        {{.layer_name = "elsewhere"}, NULL, "lacks layer 'elsewhere'"},
        {{.nameless = true}, NULL, "give a name after the file"},
        {{.bomb = true, .gzip = true}, NULL, "more bytes than are allowed"},
        {{.other_config = true}, NULL, "is damaged"},
        {{.other_blob = true}, NULL, "digest does not match"},
        {{.other_blob = true, .gzip = true}, NULL, "digest does not match"},
        {{0}, "no name!", "is not a valid image name"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *rows, *table;
        struct err err = ERR_INIT;
        make_archive(arena, &CASES[i].flaw);
        assert_true(import_image(arena, CASES[i].name, &rows, &err) < 0);
        if (!strstr(err.message, CASES[i].error))
            fail_msg("no '%s' in '%s'", CASES[i].error, err.message);
        assert_int_equal(count_images(), 0);
        assert_int_equal(image_table_load(arena, state_dir, &table, NULL), 0);
        assert_int_equal(json_count(table), 0);
    }
    file_write_atomic(file, "no archive", 10, 0600, NULL);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *rows;
    assert_true(import_image(arena, NULL, &rows, NULL) < 0);
    assert_int_equal(count_images(), 0);
}

static bool removes_before_lock; /* the image "one", at the next flock() of an import */

/* Replaces that of the C library. */
int flock(int fd, int operation)
{
    /* The directory of an import, beside that of the image, exists only after its first lock. */
    if (removes_before_lock && operation == LOCK_EX && count_images() == 2) {
        removes_before_lock = false;
        assert_int_equal(node_image_remove(state_dir, "one", NULL), 0);
    }
    return (int)syscall(SYS_flock, fd, operation);
}

/* The import does not unpack an image that exists. If `trainyard image rm` removes the image before
 * the import has the lock, the import unpacks it after all. */
static void image_removed_during_the_import_is_imported(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *rows;
    struct err err = ERR_INIT;
    make_archive(arena, &(struct flaw){.gzip = true});
    assert_int_equal(import_image(arena, "one", &rows, NULL), 0);
    removes_before_lock = true;
    if (import_image(arena, "one", &rows, &err) < 0)
        fail_msg("%s", err.message);
    assert_false(removes_before_lock);
    assert_int_equal(json_get_int(rows->first, "size", 0), 7);
    assert_int_equal(count_images(), 1);
    assert_int_equal(node_image_remove(state_dir, "one", NULL), 0);
    assert_int_equal(count_images(), 0);
}

static void files_of_a_killed_import_are_removed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *rows;
    const char *path;
    int fd;
    make_archive(arena, &(struct flaw){0});
    assert_int_equal(image_store_begin(arena, state_dir, &path, &fd, NULL), 0);
    file_make_dirs(arena_printf(arena, "%s/image/rootfs", path), 0700, NULL);
    assert_int_equal(import_image(arena, "one", &rows, NULL), 0);
    assert_true(file_exists(path)); /* another import still works there */
    close(fd);
    assert_int_equal(import_image(arena, "one", &rows, NULL), 0);
    assert_false(file_exists(path));
    assert_int_equal(node_image_remove(state_dir, "one", NULL), 0);
}

static void images_in_use_are_not_removed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *rows;
    struct err err = ERR_INIT;
    make_archive(arena, &(struct flaw){0});
    assert_int_equal(import_image(arena, "used", &rows, NULL), 0);
    struct pod_spec spec = {.hostname = "worker-0"};
    struct pod_container *container = pod_spec_add_container(arena, &spec, "main");
    container->root = image_root(arena, state_dir, json_get_string(rows->first, "digest", ""));
    container->layer = "/layer";
    pod_strings_add(arena, &container->arguments, "x");
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(&spec, &text);
    const char *pod = arena_printf(arena, "%s/pods/uid", state_dir);
    file_make_dirs(pod, 0700, NULL);
    file_write_atomic(arena_printf(arena, "%s/spec", pod), text.data, text.size, 0600, NULL);
    assert_int_equal(node_image_remove(state_dir, "used", &err), -ERR_CONFLICT);
    assert_string_equal(err.message,
                        "image 'used' is in use by pod 'worker-0': delete the pod first");
    /* Another image takes the name. The files stay as long as the pod. */
    const struct node_image other = {.state_dir = state_dir,
                                     .name = "used:latest",
                                     .command = (const char *const[]){"/bin/sh"},
                                     .command_count = 1};
    assert_int_equal(node_image_add(&other, NULL), 0);
    assert_int_equal(count_images(), 1);
    /* A pod that has ended keeps no image. */
    assert_int_equal(pod_state_store(pod, &(struct pod_state){.finished = true}, NULL), 0);
    assert_int_equal(node_image_remove(state_dir, "used", NULL), 0);
    file_remove_tree(pod, NULL);
    assert_int_equal(count_images(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_archives_are_imported),
        cmocka_unit_test(invalid_archives_leave_no_files),
        cmocka_unit_test(image_removed_during_the_import_is_imported),
        cmocka_unit_test(files_of_a_killed_import_are_removed),
        cmocka_unit_test(images_in_use_are_not_removed),
    };
    if (!mkdtemp(scratch))
        return 1;
    state_dir = mem_printf("%s/state", scratch);
    file = mem_printf("%s/image.tar", scratch);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(scratch, NULL);
    return failed;
}
