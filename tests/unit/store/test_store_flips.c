/* Tests changing one byte of the files on disk, at any position. Afterwards the store serves
 * exactly the acknowledged state, or reports the damage, or fails to open with a reason. It never
 * serves a value that was never written. A store that opened accepts writes and keeps them. The
 * positions are random. A soak run changes every byte of the database, and TRAINYARD_TEST_SCALE
 * times as many of the log. */
#include "store_fixture.h"
#include "test_scale.h"

#include "base/buf.h"
#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"

#include <sys/stat.h>

enum { KEYS = 9, CHANGES = 40, VALUE_MAX = 6000, FLIPS = 250, FILE_MAX = 16 * 1024 * 1024 };

struct version {
    int key;
    bool deleted;
    char *data;
    size_t size;
};

static struct version versions[CHANGES + 1]; /* by revision */
static const char *const SUFFIXES[] = {"", "-wal", "-acknowledged"};
enum { DATABASE, LOG, FILES = ARRAY_SIZE(SUFFIXES) };

static void key_name(int key, char name[32])
{
    snprintf(name, 32, "/configmaps/default/k%d", key);
}

static size_t make_value(struct rand *rand, int64_t revision, char value[VALUE_MAX])
{
    size_t size = 40 + rand_below(rand, rand_below(rand, 4) ? 600 : VALUE_MAX - 40);
    int head = snprintf(value, VALUE_MAX, "{\"revision\":%lld,\"text\":\"", (long long)revision);
    for (size_t i = (size_t)head; i < size - 2; i++)
        value[i] = (char)('a' + rand_below(rand, 26));
    memcpy(value + size - 2, "\"}", 2);
    return size;
}

/* Writes the same changes every time: creations, updates and deletions. */
static void write_changes(struct fixture *fixture)
{
    struct rand rand;
    rand_init(&rand, 5);
    for (int64_t revision = 1; revision <= CHANGES; revision++) {
        struct version *version = &versions[revision];
        char name[32], value[VALUE_MAX];
        version->key = (int)rand_below(&rand, KEYS);
        key_name(version->key, name);
        struct store_object *old = store_get(fixture->store, name);
        version->deleted = old && rand_below(&rand, 4) == 0;
        version->size = make_value(&rand, revision, value);
        version->data = mem_strndup(value, version->size);
        int64_t expected = old ? old->revision : 0;
        assert_int_equal(version->deleted ? store_delete(fixture->store, name, value, version->size,
                                                         expected, NULL, NULL, NULL)
                                          : store_put(fixture->store, name, value, version->size,
                                                      expected, NULL, NULL, NULL),
                         0);
        store_object_unref(old);
        loop_run(fixture->loop);
    }
}

static void forget_changes(void)
{
    for (int64_t revision = 1; revision <= CHANGES; revision++)
        free(versions[revision].data);
    memset(versions, 0, sizeof(versions));
}

/* ---- files ----------------------------------------------------------------------------------- */

static void read_files(const struct fixture *fixture, struct buf files[FILES])
{
    for (size_t i = 0; i < FILES; i++) {
        _cleanup_free_ char *path = mem_printf("%s%s", fixture->path, SUFFIXES[i]);
        buf_init(&files[i], FILE_MAX);
        if (file_exists(path))
            assert_int_equal(file_read(path, &files[i], NULL), 0);
    }
}

static void write_files(const struct fixture *fixture, const struct buf files[FILES])
{
    for (size_t i = 0; i < FILES; i++) {
        _cleanup_free_ char *path = mem_printf("%s%s", fixture->path, SUFFIXES[i]);
        unlink(path);
        if (files[i].size)
            assert_int_equal(file_replace(path, files[i].data, files[i].size, 0600, NULL), 0);
    }
}

static void remove_saved_files(const struct fixture *fixture)
{
    _cleanup_free_ char *path = mem_printf("%s-wal.damaged-1", fixture->path);
    unlink(path);
}

/* ---- checks ---------------------------------------------------------------------------------- */

struct tally {
    int right, reported, refused;
};

/* Returns the revision of the key after all changes, or 0 if it does not exist. */
static int64_t expected_revision(int key)
{
    int64_t newest = 0;
    for (int64_t revision = 1; revision <= CHANGES; revision++)
        if (versions[revision].key == key)
            newest = versions[revision].deleted ? 0 : revision;
    return newest;
}

static bool is_version(const struct store_object *object, int key)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    if (object->revision < 1 || object->revision > CHANGES)
        return false;
    const struct version *version = &versions[object->revision];
    return version->key == key && !version->deleted && version->size == object->size &&
           memcmp(version->data, store_object_data(object, arena), object->size) == 0;
}

/* Returns whether the state is the acknowledged one. A value that was never written fails the
 * test. */
static bool check_objects(const struct fixture *fixture, size_t at)
{
    struct store_object **objects;
    size_t known = 0, count = store_list(fixture->store, "", &objects);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        store_object_unref(objects[i]);
    free(objects);
    for (int key = 0; key < KEYS; key++) {
        char name[32];
        key_name(key, name);
        struct store_object *object = store_get(fixture->store, name);
        if (object && !is_version(object, key))
            fail_msg("byte %zu: '%s' has a value that was never written", at, name);
        is_right = is_right && (object ? object->revision : 0) == expected_revision(key);
        known += object != NULL;
        store_object_unref(object);
    }
    struct store_object *added = store_get(fixture->store, "/new");
    known += added != NULL;
    store_object_unref(added);
    if (known != count)
        fail_msg("byte %zu: an object is served that was never written", at);
    return is_right;
}

static int open_flipped(struct fixture *fixture, struct err *err)
{
    const struct store_options options = {.path = fixture->path};
    return store_open(fixture->loop, &options, &fixture->store, err);
}

static void on_written(void *context, const struct store_object *object, const struct err *err)
{
    (void)object;
    *(bool *)context = !err;
}

/* Checks that an acknowledged write is kept, and that nothing else changes with it. */
static void check_write(struct fixture *fixture, size_t at)
{
    bool is_written = false;
    int64_t revision = store_next_revision(fixture->store);
    if (revision <= CHANGES)
        fail_msg("byte %zu: revision %lld is given again", at, (long long)revision);
    (void)store_put(fixture->store, "/new", "{}", 2, 0, on_written, &is_written, NULL);
    loop_run(fixture->loop);
    fixture_close(fixture);
    if (open_flipped(fixture, NULL) < 0)
        return; /* the damage is reported */
    bool was_right = check_objects(fixture, at);
    struct store_object *added = store_get(fixture->store, "/new");
    bool is_silent = !store_is_damaged(fixture->store);
    if (is_silent && (!was_right || (is_written && (!added || added->revision != revision))))
        fail_msg("byte %zu: a write was lost in silence", at);
    store_object_unref(added);
    fixture_close(fixture);
}

static void check_flipped(struct fixture *fixture, size_t at, struct tally *tally)
{
    struct err err = ERR_INIT;
    if (open_flipped(fixture, &err) < 0) {
        assert_true(err.message[0] != '\0');
        tally->refused++;
        return;
    }
    bool is_right = check_objects(fixture, at), is_damaged = store_is_damaged(fixture->store);
    if (!is_right && !is_damaged)
        fail_msg("byte %zu: what is served is not what was acknowledged, in silence", at);
    tally->right += !is_damaged;
    tally->reported += is_damaged;
    if (is_right || !is_damaged) {
        check_write(fixture, at);
        return;
    }
    fixture_close(fixture);
}

/* ---- flipped bytes --------------------------------------------------------------------------- */

/* Chooses every byte of the first hundred and of the beginning of each page, and some of the
 * others. */
static bool is_chosen(size_t file, size_t at, size_t size, struct rand *rand)
{
    if (at < 100 || (file == DATABASE && test_is_soak()))
        return true;
    return rand_below(rand, size) < FLIPS * (uint64_t)test_scale() ||
           (at % 4096 < 12 && rand_below(rand, 8) == 0);
}

static void flip_file(struct fixture *fixture, struct buf files[FILES], size_t file,
                      const char *what)
{
    static const char MASKS[] = {(char)0xff, 0x01, (char)0x80, 0x20};
    struct tally tally = {0};
    struct rand rand;
    rand_init(&rand, 6);
    for (size_t at = 0; at < files[file].size; at++) {
        if (!is_chosen(file, at, files[file].size, &rand))
            continue;
        char mask = MASKS[rand_below(&rand, ARRAY_SIZE(MASKS))];
        files[file].data[at] ^= mask;
        write_files(fixture, files);
        files[file].data[at] ^= mask;
        check_flipped(fixture, at, &tally);
        remove_saved_files(fixture);
    }
    print_message("%s of %zu bytes, one changed at a time: %d times all was right, %d times damage "
                  "was reported, %d times the file was refused\n",
                  what, files[file].size, tally.right, tally.reported, tally.refused);
    assert_true(tally.reported > 0);
    /* The database has free space and unused fields. The log has checksums over all its bytes. */
    if (file == DATABASE)
        assert_true(tally.right > 0 && tally.refused > 0);
    else
        assert_int_equal(tally.right, 0);
}

static void release_files(struct buf files[FILES])
{
    for (size_t i = 0; i < FILES; i++)
        buf_release(&files[i]);
}

static void test_flipped_byte_in_the_database(void **state)
{
    struct fixture fixture;
    struct buf files[FILES];
    fixture_init(&fixture, true);
    fixture_open(&fixture);
    write_changes(&fixture);
    fixture_close(&fixture);
    read_files(&fixture, files);
    assert_int_equal(files[LOG].size, 0);
    flip_file(&fixture, files, DATABASE, "a database");
    release_files(files);
    fixture_release(&fixture);
    forget_changes();
}

/* The files as after kill -9: all changes are in the log, and the mark is exact. */
static void test_flipped_byte_in_the_log(void **state)
{
    struct fixture fixture;
    struct buf files[FILES];
    fixture_init(&fixture, true);
    fixture_open(&fixture);
    write_changes(&fixture);
    read_files(&fixture, files);
    fixture_close(&fixture);
    assert_true(files[LOG].size > 0);
    flip_file(&fixture, files, LOG, "a write-ahead log");
    release_files(files);
    fixture_release(&fixture);
    forget_changes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_byte_in_the_database),
        cmocka_unit_test(test_flipped_byte_in_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
