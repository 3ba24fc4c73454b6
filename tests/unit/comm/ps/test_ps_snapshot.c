/* Tests snapshots of a server's variables: they are read back as they were written, the previous
 * one is kept, and a damaged one is never restored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rand.h"
#include "base/system/file.h"
#include "comm/ps/snapshot.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 30000, DIMENSIONS = 7, DENSE = 1000 };

static const struct ps_snapshot_owner OWNER = {.shape = 5, .server = 1, .servers = 3};
static char directory[64];

static int set_up(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/trainyard-test-snapshot.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    return file_remove_tree(directory, NULL);
}

static struct ps_snapshot *open_snapshot(void)
{
    struct err err = ERR_INIT;
    struct ps_snapshot *snapshot = NULL;
    assert_int_equal(ps_snapshot_new(directory, &OWNER, &snapshot, &err), 0);
    return snapshot;
}

/* Returns a store whose values all depend on the seed. */
static struct ps_store *make_store(uint64_t seed)
{
    struct err err = ERR_INIT;
    struct rand rand;
    rand_init(&rand, seed);
    struct ps_store *store = ps_store_new(0);
    const struct ps_dense_shape shape = {.total = 3 * DENSE,
                                         .first = DENSE,
                                         .count = DENSE,
                                         .update = {.rule = PS_ADAGRAD, .accumulator = 0.1f}};
    float values[DENSE], row[DIMENSIONS];
    bool seeded = true;
    for (int i = 0; i < DENSE; i++)
        values[i] = (float)rand_normal(&rand);
    assert_int_equal(ps_store_dense_open(store, &shape, &seeded, &err), 0);
    assert_false(seeded);
    assert_int_equal(ps_store_dense_seed(store, values, DENSE, &err), 0);
    assert_int_equal(ps_store_dense_push(store, 0, DENSE, values, 0.1f, &err), 0);
    for (size_t table = 0; table < 2; table++) {
        const struct ps_table kind = {
            .dimensions = DIMENSIONS,
            .range = 0.1f,
            .seed = table,
            .update = {.rule = table ? PS_ADAGRAD : PS_SGD, .accumulator = 1}};
        assert_int_equal(ps_store_table_open(store, table, &kind, &err), 0);
        for (int i = 0; i < ROWS; i++) {
            int64_t id = (int64_t)rand_next(&rand);
            for (int d = 0; d < DIMENSIONS; d++)
                row[d] = (float)rand_normal(&rand);
            assert_int_equal(ps_store_rows_push(store, table, &id, 1, row, 0.1f, &err), 0);
        }
    }
    uint64_t count;
    assert_int_equal(ps_store_count(store, 2, 99, PS_COUNTER_STEP, seed, &count, &err), 0);
    ps_store_set_finished(store, 2, true);
    return store;
}

static void assert_same(const struct ps_store *a, const struct ps_store *b)
{
    struct ps_store_view one = ps_store_view(a), two = ps_store_view(b);
    assert_int_equal(one.dense.total, two.dense.total);
    assert_int_equal(one.seeded, two.seeded);
    assert_memory_equal(one.values, two.values, DENSE * sizeof(float));
    assert_memory_equal(one.state, two.state, DENSE * sizeof(float));
    assert_int_equal(one.tally_count, two.tally_count);
    assert_memory_equal(one.tallies, two.tallies, one.tally_count * sizeof(*one.tallies));
    assert_int_equal(ps_store_table_count(a), ps_store_table_count(b));
    for (size_t i = 0; i < ps_store_table_count(a); i++) {
        const struct embedding_table *left = ps_store_table(a, i), *right = ps_store_table(b, i);
        const int64_t *ids, *other_ids;
        const float *rows, *other_rows;
        size_t count, stride = embedding_table_stride(left);
        assert_int_equal(embedding_table_rows(left), embedding_table_rows(right));
        assert_int_equal(stride, embedding_table_stride(right));
        for (size_t at = 0; (count = embedding_table_span(left, at, &ids, &rows)) > 0;
             at += count) {
            assert_int_equal(embedding_table_span(right, at, &other_ids, &other_rows), count);
            assert_memory_equal(ids, other_ids, count * sizeof(*ids));
            assert_memory_equal(rows, other_rows, count * stride * sizeof(*rows));
        }
    }
}

static int restore(struct ps_snapshot *snapshot, struct ps_store *store, bool *ret_found,
                   struct ps_snapshot_info *ret_info, char note[PS_SNAPSHOT_NOTE_MAX],
                   struct err *err)
{
    *err = ERR_INIT;
    return ps_snapshot_restore(snapshot, store, ret_found, ret_info, note, err);
}

static void a_snapshot_is_read_back(void **state)
{
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *store = make_store(1), *other = ps_store_new(0);
    struct ps_snapshot_info info;
    char note[PS_SNAPSHOT_NOTE_MAX];
    struct err err = ERR_INIT;
    bool found = true;
    assert_int_equal(restore(snapshot, other, &found, &info, note, &err), 0);
    assert_false(found);
    assert_int_equal(ps_snapshot_write(snapshot, store, &err), 0);
    assert_int_equal(restore(snapshot, other, &found, &info, note, &err), 0);
    assert_true(found && !info.previous);
    assert_string_equal(note, "");
    assert_int_equal(info.rows, 2 * ROWS);
    assert_same(store, other);
}

/* The child sees the variables at the fork; the server continues meanwhile. */
static void a_child_writes_the_values_at_the_fork(void **state)
{
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *store = make_store(2), *same = make_store(2),
                                                *other = ps_store_new(0);
    struct ps_snapshot_info info;
    char note[PS_SNAPSHOT_NOTE_MAX];
    struct err err = ERR_INIT;
    int fd = -1;
    assert_int_equal(ps_snapshot_start(snapshot, store, &fd, &err), 0);
    float row[DIMENSIONS] = {1};
    for (int64_t id = 0; id < 1000; id++)
        assert_int_equal(ps_store_rows_push(store, 0, &id, 1, row, 1, &err), 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ended, 1, -1), 1);
    assert_int_equal(ps_snapshot_finish(snapshot, &err), 0);
    bool found = false;
    assert_int_equal(restore(snapshot, other, &found, &info, note, &err), 0);
    assert_same(same, other);
}

static void change_byte(const char *path, off_t at)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    uint8_t byte = 0;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void the_previous_snapshot_replaces_a_damaged_one(void **state)
{
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *first = make_store(3), *second = make_store(4),
                                                *other = ps_store_new(0);
    struct ps_snapshot_info info;
    char note[PS_SNAPSHOT_NOTE_MAX];
    struct err err = ERR_INIT;
    bool found = false;
    assert_int_equal(ps_snapshot_write(snapshot, first, &err), 0);
    assert_int_equal(ps_snapshot_write(snapshot, second, &err), 0);
    const char *path = ps_snapshot_path(snapshot);
    change_byte(path, 20000);
    assert_int_equal(restore(snapshot, other, &found, &info, note, &err), 0);
    assert_true(found && info.previous);
    assert_non_null(strstr(note, path));
    assert_non_null(strstr(note, "is damaged: its checksum is wrong"));
    assert_same(first, other);
    assert_false(file_exists(path));

    /* After a damaged snapshot, or a crash between the renames, only the changes since the previous
     * snapshot are lost. */
    ps_store_clear(other);
    assert_int_equal(restore(snapshot, other, &found, &info, note, &err), 0);
    assert_true(found && info.previous);
    assert_same(first, other);

    ps_store_clear(other);
    _cleanup_free_ char *previous = mem_printf("%s.previous", path);
    assert_int_equal(truncate(previous, 1000), 0);
    assert_true(restore(snapshot, other, &found, &info, note, &err) < 0);
    assert_non_null(strstr(err.message, previous));
    assert_non_null(strstr(err.message, "remove the file to start with"));
    assert_int_equal(ps_store_table_count(other), 0);
}

static void a_snapshot_of_another_model_is_rejected(void **state)
{
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *store = make_store(5), *other = ps_store_new(0);
    struct ps_snapshot_info info;
    struct err err = ERR_INIT;
    assert_int_equal(ps_snapshot_write(snapshot, store, &err), 0);
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 16 << 20);
    assert_int_equal(file_read(ps_snapshot_path(snapshot), &bytes, &err), 0);
    const uint8_t *data = (const uint8_t *)bytes.data;
    struct ps_snapshot_owner stranger = OWNER;
    stranger.shape++;
    assert_int_equal(ps_snapshot_decode(data, bytes.size, &stranger, other, &info, &err),
                     -ERR_CONFLICT);
    assert_non_null(strstr(err.message, "another shape"));
    stranger = OWNER;
    stranger.servers++;
    assert_int_equal(ps_snapshot_decode(data, bytes.size, &stranger, other, &info, &err),
                     -ERR_CONFLICT);
    assert_non_null(strstr(err.message, "ps 1 of 3 and this is ps 1 of 4"));
}

/* Any wrong byte and any truncation. */
static void every_damage_is_detected(void **state)
{
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *store = make_store(6), *other = ps_store_new(0);
    struct ps_snapshot_info info;
    struct err err = ERR_INIT;
    struct rand rand;
    rand_init(&rand, 6);
    assert_int_equal(ps_snapshot_write(snapshot, store, &err), 0);
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 16 << 20);
    assert_int_equal(file_read(ps_snapshot_path(snapshot), &bytes, &err), 0);
    for (int i = 0; i < 100; i++) {
        size_t at = rand_below(&rand, i % 2 ? bytes.size : 200);
        bytes.data[at] ^= 1;
        assert_true(ps_snapshot_decode((const uint8_t *)bytes.data, bytes.size, &OWNER, other,
                                       &info, &err) < 0);
        bytes.data[at] ^= 1;
        assert_true(
            ps_snapshot_decode((const uint8_t *)bytes.data, at, &OWNER, other, &info, &err) < 0);
    }
}

static void a_failed_write_is_reported(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_(cleanup_ps_snapshot) struct ps_snapshot *snapshot = open_snapshot();
    _cleanup_(cleanup_ps_store) struct ps_store *store = make_store(7);
    assert_int_equal(file_remove_tree(directory, &err), 0);
    int fd = -1;
    assert_int_equal(ps_snapshot_start(snapshot, store, &fd, &err), 0);
    assert_int_equal(ps_snapshot_finish(snapshot, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "cannot write '"));
    assert_int_equal(mkdir(directory, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_snapshot_is_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_writes_the_values_at_the_fork, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_previous_snapshot_replaces_a_damaged_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_of_another_model_is_rejected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_damage_is_detected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_write_is_reported, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
