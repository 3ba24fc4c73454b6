/* The format of the database: creates the table in a new file, upgrades format 1 to format 2, and
 * refuses files of any other format. The format number is in SQLite's user_version. Format 1 had no
 * checksums. The upgrade computes the checksums from the existing rows. */
#include "store/store_disk_internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/store_checksum.h"

#include <sqlite3.h>
#include <string.h>

enum { FORMAT = 2, PAGE_FAULTS_MAX = 100 };

/* Table definitions by format. Columns of format 2 have no constraints, because checksums detect
 * more errors, and SQLite reports a row that violates a constraint like a damaged page. The columns
 * of the checksums are before the data, so that they are on the first page of a row. */
static const char *const SCHEMAS[FORMAT + 1] = {
    [1] = "CREATE TABLE changes("
          " revision INTEGER PRIMARY KEY AUTOINCREMENT,"
          " key TEXT NOT NULL,"
          " created INTEGER NOT NULL,"
          " deleted INTEGER NOT NULL,"
          " data BLOB NOT NULL)",
    [2] = "CREATE TABLE changes("
          " revision INTEGER PRIMARY KEY AUTOINCREMENT,"
          " key TEXT,"
          " created INTEGER,"
          " deleted INTEGER,"
          " head_sum INTEGER,"
          " sum INTEGER,"
          " data BLOB)",
};

static int refuse_damaged(const struct store_disk *disk, const char *what, struct err *err)
{
    return err_set(err, ERR_INVALID, "'%s' is damaged (%s): " STORE_DISK_ADVICE, disk->path, what);
}

/* Sets *ret to the format of the table in the file, or to 0 if the file has no known table. */
static int find_schema(struct store_disk *disk, int *ret, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int found = 0;
    int code = sqlite3_prepare_v2(
        disk->db, "SELECT sql FROM sqlite_schema WHERE name = 'changes' AND type = 'table'", -1,
        &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(statement, 0);
        for (int format = 1; format <= FORMAT; format++)
            if (sql && str_eq(sql, SCHEMAS[format]))
                found = format;
    }
    int result = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
    sqlite3_finalize(statement);
    if (result == 0)
        *ret = found;
    return result;
}

/* Runs SQLite's check of the pages. Ignores messages about column values, because checksums cover
 * the columns. Messages about pages start with "***". */
static int check_pages(struct store_disk *disk, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = 0;
    _cleanup_free_ char *sql = mem_printf("PRAGMA quick_check(%d)", PAGE_FAULTS_MAX);
    int code = sqlite3_prepare_v2(disk->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return store_disk_fail(disk, err);
    while (result == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (text && strncmp(text, "***", 3) == 0) {
            const char *line = strchr(text, '\n'); /* skip the name of the database */
            line = line ? line + 1 : text;
            _cleanup_free_ char *first = mem_strndup(line, strcspn(line, "\n"));
            result = refuse_damaged(disk, first, err);
        }
    }
    if (result == 0 && code != SQLITE_DONE)
        result = store_disk_fail(disk, err);
    sqlite3_finalize(statement);
    return result;
}

/* ---- the upgrade ----------------------------------------------------------------------------- */

/* Computes the head checksum for the SQL functions. The first four arguments are revision, key,
 * created and deleted. */
static uint64_t head_of(sqlite3_value **values)
{
    const char *key = (const char *)sqlite3_value_text(values[1]);
    return store_checksum_head(sqlite3_value_int64(values[0]), key ? key : "",
                               (size_t)sqlite3_value_bytes(values[1]),
                               sqlite3_value_int64(values[2]), sqlite3_value_int(values[3]) != 0);
}

static void sql_head_checksum(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_int64(context, (sqlite3_int64)head_of(values));
}

/* The SQL function row_checksum(revision, key, created, deleted, data). */
static void sql_row_checksum(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const void *data = sqlite3_value_blob(values[4]);
    uint64_t sum =
        store_checksum_adopt(head_of(values), data, (size_t)sqlite3_value_bytes(values[4]));
    sqlite3_result_int64(context, (sqlite3_int64)sum);
}

static int format_upgrade(struct store_disk *disk, struct err *err)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    if (sqlite3_create_function_v2(disk->db, "head_checksum", 4, flags, NULL, sql_head_checksum,
                                   NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function_v2(disk->db, "row_checksum", 5, flags, NULL, sql_row_checksum, NULL,
                                   NULL, NULL) != SQLITE_OK)
        return store_disk_fail(disk, err);
    _cleanup_free_ char *sql = mem_printf(
        "BEGIN IMMEDIATE;"
        "ALTER TABLE changes RENAME TO changes_1;"
        "%s;"
        "INSERT INTO changes(revision, key, created, deleted, head_sum, sum, data)"
        " SELECT revision, key, created, deleted, head_checksum(revision, key, created, deleted),"
        " row_checksum(revision, key, created, deleted, data), data FROM changes_1;"
        /* Keep the value of the revision counter instead of restarting it after the newest row. */
        "DELETE FROM sqlite_sequence WHERE name = 'changes';"
        "UPDATE sqlite_sequence SET name = 'changes' WHERE name = 'changes_1';"
        "DROP TABLE changes_1;"
        "PRAGMA user_version = %d;"
        "COMMIT;",
        SCHEMAS[FORMAT], FORMAT);
    int result = store_disk_execute(disk, sql, err);
    if (result < 0)
        (void)sqlite3_exec(disk->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_create_function_v2(disk->db, "head_checksum", 4, flags, NULL, NULL, NULL, NULL, NULL);
    sqlite3_create_function_v2(disk->db, "row_checksum", 5, flags, NULL, NULL, NULL, NULL, NULL);
    return result;
}

int store_format_prepare(struct store_disk *disk, struct err *err)
{
    int64_t format = 0, tables = 0;
    int schema = 0;
    int result = store_disk_query_int(disk, "PRAGMA user_version", &format, err);
    if (result == 0)
        result = store_disk_query_int(disk, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (result == 0)
        result = find_schema(disk, &schema, err);
    if (result < 0)
        return result;
    if (format == 0 && tables == 0) {
        _cleanup_free_ char *sql =
            mem_printf("BEGIN; %s; PRAGMA user_version = %d; COMMIT;", SCHEMAS[FORMAT], FORMAT);
        return store_disk_execute(disk, sql, err);
    }
    if (format > FORMAT)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' was written by a newer version of this program (format %lld, this one "
                       "reads %d): use that version, or move the file away to start empty",
                       disk->path, (long long)format, FORMAT);
    if (format < 1 && !schema)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' is a database of another program: move it away to start empty",
                       disk->path);
    if (schema != format)
        return refuse_damaged(disk, "its table does not match its format version", err);
    result = check_pages(disk, err);
    if (result == 0 && format < FORMAT)
        result = format_upgrade(disk, err);
    return result;
}
