/* Tests inspecting and repairing a damaged database; see store_check.h. */
#include "damage_fixture.h"

#include "base/buf.h"
#include "store/store_check.h"

static void the_text_of_a_row_is_shown(void **state)
{
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    buf_init(&text, 1000);
    WRITE("/a {\"a\":1}");
    fixture_query(&fixture, "UPDATE changes SET data = CAST('{\"a\":2}' AS BLOB)");
    assert_int_equal(store_check_show(fixture.path, 1, &text, &err), 0);
    assert_string_equal(text.data, "{\"a\":2}");
    assert_int_equal(store_check_show(fixture.path, 2, &text, &err), -ERR_NOT_FOUND);
}

/* Accepts the first damaged row. */
static int accept_first(struct err *err)
{
    fixture_open(&fixture);
    struct store_damaged_row row = store_damage(fixture.store)->rows[0];
    row.key = mem_strdup(row.key);
    fixture_close(&fixture);
    int result = store_check_accept(fixture.path, &row, err);
    free(row.key);
    return result;
}

static void a_damaged_row_is_accepted(void **state)
{
    struct err err = ERR_INIT;
    WRITE("/a {\"a\":1}", "/a {\"a\":2}");
    fixture_query(&fixture,
                  "UPDATE changes SET data = CAST('{\"a\":3}' AS BLOB) WHERE revision = 2");
    assert_int_equal(accept_first(&err), 0);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
    assert_int_equal(json_get_int(read_object("/a"), "a", 0), 3);
    fixture_close(&fixture);

    fixture_query(&fixture, "UPDATE changes SET data = '{' WHERE revision = 2");
    assert_int_equal(accept_first(&err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "its text is not a JSON object"));
    WRITE("/a {\"a\":4}");
    assert_int_equal(accept_first(&err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "it is not the newest version of '/a'"));
    fixture_query(&fixture, "UPDATE changes SET key = '/x', head_sum = 0 WHERE revision = 2");
    assert_int_equal(accept_first(&err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "its key is damaged"));
}

/* Removes the damaged rows, of which there must be `count`. Each has the text "altered". */
static void remove_damaged(size_t count)
{
    struct err err = ERR_INIT;
    struct store_damaged_row rows[8];
    _cleanup_free_ char *kept = mem_printf("%s/damaged", fixture.directory);
    fixture_open(&fixture);
    struct store_damage damage = *store_damage(fixture.store);
    assert_int_equal(damage.rows_count, count);
    assert_true(count <= ARRAY_SIZE(rows));
    memcpy(rows, damage.rows, count * sizeof(rows[0]));
    for (size_t i = 0; i < count; i++)
        rows[i].key = mem_strdup(rows[i].key);
    damage.rows = rows;
    fixture_close(&fixture);
    if (store_check_remove(fixture.path, &damage, kept, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        _cleanup_buf_ struct buf text;
        _cleanup_free_ char *name = mem_printf("%s/%lld", kept, (long long)rows[i].revision);
        buf_init(&text, 100);
        assert_int_equal(file_read(name, &text, NULL), 0);
        assert_string_equal(text.data, "altered");
        free(rows[i].key);
    }
}

static void damaged_rows_are_removed(void **state)
{
    WRITE("/a 1", "/a 2", "/b 3", "/b", "/c 5");
    fixture_query(&fixture,
                  "UPDATE changes SET data = CAST('altered' AS BLOB) WHERE revision IN (2, 4, 5)");
    remove_damaged(3);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
    assert_int_equal(served_revision("/a"), 1);
    assert_int_equal(served_revision("/b"), 0);
    assert_int_equal(served_revision("/c"), 0);
    assert_int_equal(store_revision(fixture.store), 5);
    assert_int_equal(fixture_write(&fixture, "/c", "6"), 6);
}

/* Revisions that no change can have. */
static void rows_with_impossible_revisions_are_removed(void **state)
{
    WRITE("/a 1", "/b 2", "/c 3", "/d 4");
    fixture_query(&fixture,
                  "UPDATE changes SET data = CAST('altered' AS BLOB) WHERE revision <= 3");
    fixture_query(&fixture, "UPDATE changes SET revision = 0 WHERE revision = 1");
    fixture_query(&fixture, "UPDATE changes SET revision = -7 WHERE revision = 2");
    fixture_query(&fixture, "UPDATE changes SET revision = 9223372036854775807 WHERE revision = 3");
    remove_damaged(3);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
    assert_int_equal(served_revision("/d"), 4);
    assert_int_equal(fixture_write(&fixture, "/e", "5"), 5);
}

static void lost_changes_are_reported_once(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *kept = mem_printf("%s/damaged", fixture.directory);
    WRITE("/a 1", "/b 2", "/c 3");
    fixture_query(&fixture, "DELETE FROM changes WHERE revision > 1");
    fixture_query(&fixture, "UPDATE sqlite_sequence SET seq = 1");
    fixture_open(&fixture);
    struct store_damage damage = *store_damage(fixture.store);
    assert_int_equal(damage.lost_first, 2);
    assert_int_equal(damage.lost_last, 3);
    fixture_close(&fixture);
    assert_int_equal(store_check_remove(fixture.path, &damage, kept, &err), 0);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
    assert_int_equal(fixture_write(&fixture, "/b", "4"), 4);
}

enum { ROWS = 200, PAGE = 4096 };
static char value[1000];

/* Writes the objects /k001 to /k200, one per revision. */
static void write_rows(void)
{
    char key[16];
    memset(value, 'v', sizeof(value));
    fixture_open(&fixture);
    for (int i = 1; i <= ROWS; i++) {
        snprintf(key, sizeof(key), "/k%03d", i);
        assert_int_equal(store_put(fixture.store, key, value, sizeof(value), 0, NULL, NULL, NULL),
                         0);
    }
    loop_run(fixture.loop);
    fixture_close(&fixture);
}

/* Rebuilds the file, which opening must reject, and opens it. */
static struct store_rebuilt rebuild(void)
{
    struct err err = ERR_INIT;
    struct store *store;
    struct store_rebuilt rebuilt;
    const struct store_options options = {.path = fixture.path};
    assert_int_equal(store_open(fixture.loop, &options, &store, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "run 'trainyard check --repair'"));
    if (store_rebuild(fixture.path, &rebuilt, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(file_exists(rebuilt.kept));
    free(rebuilt.kept);
    fixture_open(&fixture);
    return rebuilt;
}

/* Checks that `expected` objects are served as they were written, and that a new object gets a new
 * revision. */
static void expect_objects(size_t expected)
{
    struct store_object **objects;
    size_t count = store_list(fixture.store, "/k", &objects);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(store_object_data(objects[i], fixture.arena), value, sizeof(value));
        store_object_unref(objects[i]);
    }
    free(objects);
    assert_int_equal(fixture_write(&fixture, "/new", "x"), ROWS + 1);
}

/* Pages in the middle and at the end are zeroed. The rows on all other pages are kept. */
static void a_damaged_file_is_rebuilt(void **state)
{
    struct err err = ERR_INIT;
    write_rows();
    fixture_query(&fixture, "UPDATE changes SET data = 'x' WHERE revision = 2");
    FILE *file = fopen(fixture.path, "r+");
    char zeros[PAGE] = {0};
    static const long PAGES[] = {20, 21, 40, 60};
    for (size_t i = 0; i < ARRAY_SIZE(PAGES); i++) {
        fseek(file, PAGES[i] * PAGE, SEEK_SET);
        fwrite(zeros, PAGE, 1, file);
    }
    fclose(file);
    int faults = 0;
    assert_true(store_check_pages(fixture.path, 10, count_line, &faults, &err) > 0);
    assert_true(faults > 0);

    struct store_rebuilt rebuilt = rebuild();
    assert_in_range(rebuilt.rows, ROWS - 5 * 4, ROWS - 4);
    assert_in_range(rebuilt.holes, 2, 4);
    expect_row(0, 2, "/k002", STORE_DAMAGE_MISSING, 0);
    assert_int_equal(store_damage(fixture.store)->count, 1);
    expect_objects(rebuilt.rows - 1);
}

/* The end of the file is missing. The rows before it are kept. */
static void a_truncated_file_is_rebuilt(void **state)
{
    write_rows();
    assert_int_equal(truncate(fixture.path, 40 * PAGE + 1), 0);
    struct store_rebuilt rebuilt = rebuild();
    assert_in_range(rebuilt.rows, 100, ROWS - 1);
    expect_objects(rebuilt.rows);
}

/* The first page of the table is zeroed, and the file with the newest acknowledged revision is
 * missing. No row can be read, but the revision counter is kept. */
static void the_revision_counter_is_kept_without_rows(void **state)
{
    static const char zeros[PAGE];
    _cleanup_free_ char *mark = mem_printf("%s-acknowledged", fixture.path);
    write_rows();
    int64_t page =
        fixture_query(&fixture, "SELECT rootpage FROM sqlite_master WHERE name = 'changes'");
    FILE *file = fopen(fixture.path, "r+");
    fseek(file, (long)(page - 1) * PAGE, SEEK_SET);
    fwrite(zeros, PAGE, 1, file);
    fclose(file);
    assert_int_equal(unlink(mark), 0);
    struct store_rebuilt rebuilt = rebuild();
    assert_int_equal(rebuilt.rows, 0);
    expect_objects(0);
}

static void a_file_that_is_no_database_is_not_rebuilt(void **state)
{
    struct err err = ERR_INIT;
    struct store_rebuilt rebuilt;
    assert_int_equal(file_replace(fixture.path, "no database", 11, 0600, NULL), 0);
    assert_int_equal(store_rebuild(fixture.path, &rebuilt, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "restore a copy, or move it away to start empty"));
    assert_true(file_exists(fixture.path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_text_of_a_row_is_shown),
        TEST(a_damaged_row_is_accepted),
        TEST(damaged_rows_are_removed),
        TEST(rows_with_impossible_revisions_are_removed),
        TEST(lost_changes_are_reported_once),
        TEST(a_damaged_file_is_rebuilt),
        TEST(a_truncated_file_is_rebuilt),
        TEST(a_file_that_is_no_database_is_not_rebuilt),
        TEST(the_revision_counter_is_kept_without_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
