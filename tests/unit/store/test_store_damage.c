/* Tests damaged rows: what is served instead, what is reported, and the effect of a later write.
 * Also tests databases of format 1, which an earlier version of this program wrote, and lost
 * acknowledged changes. */
#include "damage_fixture.h"

#include "base/buf.h"
#include "base/str.h"
#include "store/store_checksum.h"

/* Starts without a database and without its mark. */
static void remove_files(void)
{
    _cleanup_free_ char *mark = mem_printf("%s-acknowledged", fixture.path);
    unlink(fixture.path);
    unlink(mark);
}

static void an_older_version_is_served(void **state)
{
    WRITE("/a 1", "/b 2", "/a 3");
    fixture_query(&fixture, "UPDATE changes SET data = '4' WHERE revision = 3");
    fixture_open(&fixture);
    assert_int_equal(served_revision("/a"), 1);
    assert_int_equal(served_revision("/b"), 2);
    expect_row(0, 3, "/a", STORE_DAMAGE_OLDER, 1);
    struct store_watch *watch;
    assert_int_equal(store_watch(fixture.store, "/", 2, NULL, NULL, &watch, NULL), -ERR_EXPIRED);
    assert_int_equal(fixture_write(&fixture, "/a", "5"), 4); /* revision 3 is not assigned again */
    fixture_reopen(&fixture);
    assert_int_equal(served_revision("/a"), 4);
    expect_row(0, 3, "/a", STORE_DAMAGE_SUPERSEDED, 4);
}

static void an_object_without_an_older_version_is_missing(void **state)
{
    WRITE("/a 1", "/b 2");
    fixture_query(&fixture, "UPDATE changes SET data = '1' || X'ff' WHERE revision = 1");
    fixture_open(&fixture);
    assert_int_equal(served_revision("/a"), 0);
    expect_row(0, 1, "/a", STORE_DAMAGE_MISSING, 0);
    assert_int_equal(fixture_write(&fixture, "/a", "3"), 3);
    fixture_reopen(&fixture);
    assert_int_equal(served_revision("/a"), 3);
    expect_row(0, 1, "/a", STORE_DAMAGE_SUPERSEDED, 3);
}

static void the_newest_revision_is_not_reused(void **state)
{
    WRITE("/a 1", "/b 2");
    fixture_query(&fixture, "UPDATE changes SET data = 'x' WHERE revision = 2");
    fixture_query(&fixture, "UPDATE sqlite_sequence SET seq = 1");
    fixture_open(&fixture);
    assert_int_equal(store_revision(fixture.store), 2);
    assert_int_equal(fixture_write(&fixture, "/c", "3"), 3);
}

/* Damages each column of a deletion's row, one after the other, and its data. The object must never
 * reappear. */
static void a_deleted_object_stays_deleted(void **state)
{
    static const char *const DAMAGE[] = {"data = 'x'", "deleted = 0", "created = 2",
                                         "key = '/x'", "key = NULL",  "key = '/a' || X'00' || 'b'"};
    for (size_t i = 0; i < ARRAY_SIZE(DAMAGE); i++) {
        WRITE("/a 1", "/b 2", "/a");
        _cleanup_free_ char *sql =
            mem_printf("UPDATE changes SET %s WHERE revision = 3", DAMAGE[i]);
        fixture_query(&fixture, sql);
        fixture_open(&fixture);
        assert_int_equal(served_revision("/a"), 0);
        expect_row(0, 3, "/a", STORE_DAMAGE_DELETED, 0);
        fixture_write(&fixture, "/c", "4"); /* also removes the deleted version */
        fixture_close(&fixture);
        assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM changes WHERE revision = 1"),
                         0);
        assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM changes WHERE revision = 3"),
                         1);
        fixture_open(&fixture);
        assert_int_equal(served_revision("/a"), 0);
        assert_int_equal(store_damage(fixture.store)->count, 1);
        fixture_close(&fixture);
        remove_files();
    }
}

static void a_deletion_after_the_damage_is_kept(void **state)
{
    WRITE("/a 1", "/a 2", "/a");
    fixture_query(&fixture, "UPDATE changes SET data = 'x' WHERE revision = 2");
    fixture_open(&fixture);
    assert_int_equal(served_revision("/a"), 0);
    expect_row(0, 2, "/a", STORE_DAMAGE_SUPERSEDED, 3);
    fixture_close(&fixture);

    /* Also after the deletion has left the history. */
    fixture.history_max = 2;
    for (int i = 0; i < 3; i++) {
        fixture_open(&fixture);
        expect_row(0, 2, "/a", STORE_DAMAGE_SUPERSEDED, 3);
        for (int j = 0; j < 20; j++)
            fixture_write(&fixture, "/b", "x");
        fixture_close(&fixture);
    }
}

/* Too much of the row is lost to find its object. It is reported, and its key is printable. */
static void a_row_with_damaged_key_is_reported(void **state)
{
    WRITE("/a 1", "/b 2", "/a 3");
    fixture_query(&fixture,
                  "UPDATE changes SET key = '/' || X'1bff', head_sum = 0 WHERE revision = 3");
    fixture_open(&fixture);
    expect_row(0, 3, "/??", STORE_DAMAGE_UNKNOWN, 0);
    assert_int_equal(served_revision("/a"), 1);
    assert_int_equal(served_revision("/b"), 2);
}

static void invalid_columns_are_detected(void **state)
{
    static const char *const DAMAGE[] = {
        "created = NULL", "created = 99",           "created = 'x'",
        "sum = NULL",     "deleted = 'x', sum = 0", "data = NULL",
        "key = ''",       "revision = 1 << 60",     "revision = -5"};
    for (size_t i = 0; i < ARRAY_SIZE(DAMAGE); i++) {
        WRITE("/a 1", "/b 2");
        _cleanup_free_ char *sql =
            mem_printf("UPDATE changes SET %s WHERE revision = 2", DAMAGE[i]);
        fixture_query(&fixture, sql);
        fixture_open(&fixture);
        assert_int_equal(store_damage(fixture.store)->count, 1);
        assert_int_equal(served_revision("/a"), 1);
        assert_int_equal(served_revision("/b"), 0);
        assert_int_equal(fixture_write(&fixture, "/b", "3"), 3);
        fixture_close(&fixture);
        remove_files();
    }
}

static void the_damage_report_is_bounded(void **state)
{
    fixture_open(&fixture);
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/k%d", i);
        fixture_write(&fixture, key, "v");
    }
    fixture_close(&fixture);
    fixture_query(&fixture, "UPDATE changes SET data = 'w'");
    fixture_open(&fixture);
    const struct store_damage *damage = store_damage(fixture.store);
    int lines = 0;
    store_damage_describe(damage, count_line, &lines);
    assert_int_equal(damage->count, 40);
    assert_int_equal(damage->rows_count, 16);
    assert_int_equal(lines, 17);
    assert_int_equal(store_next_revision(fixture.store), 41);
}

/* The checksums are part of the format: every later version must read a present file. */
static void row_checksums_never_change(void **state)
{
    uint64_t head = store_checksum_head(7, "/a", 2, 3, false);
    assert_int_equal(head, UINT64_C(0xad2451c5a84ce995));
    assert_int_equal(store_checksum_row(head, "data", 4), UINT64_C(0x9b00cbd4e66a1ab3));
    assert_int_not_equal(store_checksum_head(7, "/a", 2, 3, true), head);
}

/* ---- format 1 -------------------------------------------------------------------------------- */

static void copy_format_1_database(void)
{
    _cleanup_buf_ struct buf file;
    buf_init(&file, 1024 * 1024);
    assert_int_equal(file_read(TEST_DATA "/format1.db", &file, NULL), 0);
    assert_int_equal(file_replace(fixture.path, file.data, file.size, 0600, NULL), 0);
}

static void format_1_is_upgraded(void **state)
{
    copy_format_1_database();
    assert_int_equal(fixture_query(&fixture, "PRAGMA user_version"), 1);
    for (int i = 0; i < 2; i++) { /* during the upgrade, and after it */
        fixture_open(&fixture);
        assert_false(store_is_damaged(fixture.store));
        assert_int_equal(store_revision(fixture.store), 58);
        assert_int_equal(served_revision("/pods/default/done"), 54);
        assert_int_equal(served_revision("/pods/default/waits"), 45);
        assert_int_equal(served_revision("/configmaps/default/gone"), 0);
        assert_int_equal(
            served_revision(
                "/customresourcedefinitions.apiextensions.k8s.io/greetings.example.org"),
            40);
        const struct json *words = json_get(read_object("/configmaps/default/words"), "data");
        assert_string_equal(json_get_string(words, "greek", ""), "καλημέρα");
        assert_string_equal(json_get_string(words, "emoji", ""), "🚂 trainyard");
        const struct json *hello = read_object("/greetings.example.org/default/hello");
        assert_string_equal(json_get_string(json_get(hello, "spec"), "text", ""),
                            "こんにちは, κόσμε");
        assert_true(store_remembers(fixture.store, 0));
        fixture_close(&fixture);
        assert_int_equal(fixture_query(&fixture, "PRAGMA user_version"), 2);
        assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM changes"), 58);
        assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM sqlite_schema"), 2);
    }
    fixture_open(&fixture);
    assert_int_equal(fixture_write(&fixture, "/new", "{}"), 59);
}

/* The counter of revisions is kept, also if the newest rows are gone. */
static void an_upgrade_keeps_the_revision_counter(void **state)
{
    copy_format_1_database();
    fixture_query(&fixture, "DELETE FROM changes");
    fixture_open(&fixture);
    assert_int_equal(fixture_write(&fixture, "/new", "{}"), 59);
}

/* Format 1 has no checksums, so only invalid JSON is known to be damaged. */
static void damage_in_format_1_is_reported(void **state)
{
    copy_format_1_database();
    fixture_query(
        &fixture,
        "UPDATE changes SET data = CAST(replace(data, 'words', X'ff') AS BLOB) WHERE revision = "
        "41");
    fixture_query(&fixture, "UPDATE changes SET created = 99 WHERE revision = 55");
    for (int i = 0; i < 2; i++) {
        fixture_open(&fixture);
        assert_int_equal(store_damage(fixture.store)->count, 2);
        expect_row(0, 41, "/configmaps/default/words", STORE_DAMAGE_MISSING, 0);
        assert_int_equal(served_revision("/configmaps/default/words"), 0);
        fixture_close(&fixture);
    }
}

/* ---- lost changes ---------------------------------------------------------------------------- */

static void lost_changes_are_reported(void **state)
{
    _cleanup_buf_ struct buf file;
    buf_init(&file, 1024 * 1024);
    WRITE("/a 1", "/b 2");
    assert_int_equal(file_read(fixture.path, &file, NULL), 0);
    WRITE("/c 3", "/d 4");
    assert_int_equal(file_replace(fixture.path, file.data, file.size, 0600, NULL), 0);
    fixture_open(&fixture);
    const struct store_damage *damage = store_damage(fixture.store);
    assert_true(store_is_damaged(fixture.store));
    assert_int_equal(damage->count, 0);
    assert_int_equal(damage->lost_first, 3);
    assert_int_equal(damage->lost_last, 4);
    assert_null(damage->log_copy);
    int lines = 0;
    store_damage_describe(damage, count_line, &lines);
    assert_int_equal(lines, 1);
    assert_int_equal(fixture_write(&fixture, "/e", "5"), 5);
    fixture_reopen(&fixture);
    assert_false(store_is_damaged(fixture.store));
}

/* A damaged or missing mark has no effect. */
static void a_damaged_acknowledgement_mark_is_ignored(void **state)
{
    _cleanup_free_ char *mark = mem_printf("%s-acknowledged", fixture.path);
    WRITE("/a 1");
    assert_int_equal(file_replace(mark, "\xff\xff\xff\xff\xff\xff\xff\x0f-check--", 16, 0600, NULL),
                     0);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
    assert_int_equal(store_revision(fixture.store), 1);
    fixture_close(&fixture);
    unlink(mark);
    fixture_open(&fixture);
    assert_false(store_is_damaged(fixture.store));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_older_version_is_served),
        TEST(an_object_without_an_older_version_is_missing),
        TEST(the_newest_revision_is_not_reused),
        TEST(a_deleted_object_stays_deleted),
        TEST(a_deletion_after_the_damage_is_kept),
        TEST(a_row_with_damaged_key_is_reported),
        TEST(invalid_columns_are_detected),
        TEST(the_damage_report_is_bounded),
        TEST(row_checksums_never_change),
        TEST(format_1_is_upgraded),
        TEST(an_upgrade_keeps_the_revision_counter),
        TEST(damage_in_format_1_is_reported),
        TEST(lost_changes_are_reported),
        TEST(a_damaged_acknowledgement_mark_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
