/* Inspects a database and repairs its rows; see store_check.h. */
#include "store/store_check.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "store/store_checksum.h"
#include "store/store_disk_internal.h"

#include <sqlite3.h>
#include <string.h>

int store_check_pages(const char *path, int max, void (*fault)(void *context, const char *text),
                      void *context, struct err *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int faults = 0, step = SQLITE_ROW;
    _cleanup_free_ char *sql = mem_printf("PRAGMA integrity_check(%d)", max);
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (code == SQLITE_OK && faults < max && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (!text || str_eq(text, "ok"))
            continue;
        fault(context, text);
        faults++;
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) { /* such as an I/O error */
        fault(context, sqlite3_errmsg(db));
        faults++;
    }
    if (code != SQLITE_OK)
        err_set(err, ERR_INVALID, "cannot read '%s': %s", path, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code == SQLITE_OK ? faults : -ERR_INVALID;
}

static void append_data(void *context, const struct store_row *row)
{
    buf_append(context, row->data, row->size);
}

static int read_data(struct store_disk *disk, int64_t revision, struct buf *ret, struct err *err)
{
    int result = store_disk_read(disk, revision, append_data, ret, err);
    if (result == 0 && ret->overflowed)
        result = err_set(err, ERR_TOO_LARGE, "revision %lld is too large", (long long)revision);
    return result;
}

int store_check_show(const char *path, int64_t revision, struct buf *ret, struct err *err)
{
    _cleanup_(cleanup_store_disk) struct store_disk *disk = NULL;
    int result = store_disk_open(path, &disk, err);
    return result < 0 ? result : read_data(disk, revision, ret, err);
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* The new values of the columns of an accepted row. */
struct acceptance {
    const struct store_damaged_row *row;
    int64_t created;    /* revision of the object's first version */
    uint64_t head, sum; /* the head checksum and the row checksum */
    bool is_plausible;  /* the data is a JSON object */
};

static void compute_acceptance(void *context, const struct store_row *row)
{
    struct acceptance *acceptance = context;
    const struct store_damaged_row *damaged = acceptance->row;
    acceptance->created =
        row->created >= 1 && row->created <= row->revision ? row->created : row->revision;
    acceptance->head = store_checksum_head(row->revision, damaged->key, strlen(damaged->key),
                                           acceptance->created, damaged->deleted);
    acceptance->sum = store_checksum_row(acceptance->head, row->data, row->size);
    acceptance->is_plausible = store_checksum_is_plausible(row->data, row->size);
}

static int write_acceptance(struct store_disk *disk, const struct acceptance *acceptance,
                            struct err *err)
{
    static const char SQL[] = "UPDATE changes SET key = ?, created = ?, deleted = ?, head_sum = ?, "
                              "sum = ? WHERE revision = ?";
    sqlite3_stmt *update = NULL;
    const struct store_damaged_row *row = acceptance->row;
    if (sqlite3_prepare_v2(disk->db, SQL, -1, &update, NULL) != SQLITE_OK)
        return store_disk_fail(disk, err);
    sqlite3_bind_text(update, 1, row->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(update, 2, acceptance->created);
    sqlite3_bind_int(update, 3, row->deleted);
    sqlite3_bind_int64(update, 4, (sqlite3_int64)acceptance->head);
    sqlite3_bind_int64(update, 5, (sqlite3_int64)acceptance->sum);
    sqlite3_bind_int64(update, 6, row->revision);
    int result = sqlite3_step(update) == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
    sqlite3_finalize(update);
    return result;
}

int store_check_accept(const char *path, const struct store_damaged_row *row, struct err *err)
{
    long long revision = row->revision;
    if (row->effect == STORE_DAMAGE_UNKNOWN)
        return err_set(err, ERR_INVALID,
                       "cannot accept revision %lld: its key is damaged; create the object again "
                       "from the text that --show %lld prints",
                       revision, revision);
    if (row->effect == STORE_DAMAGE_SUPERSEDED || row->effect == STORE_DAMAGE_DELETED)
        return err_set(err, ERR_INVALID,
                       "cannot accept revision %lld: it is not the newest version of '%s'",
                       revision, row->key);
    _cleanup_(cleanup_store_disk) struct store_disk *disk = NULL;
    struct acceptance acceptance = {.row = row};
    int result = store_disk_open(path, &disk, err);
    if (result == 0)
        result = store_disk_read(disk, row->revision, compute_acceptance, &acceptance, err);
    if (result == 0 && !acceptance.is_plausible)
        result = err_set(err, ERR_INVALID,
                         "cannot accept revision %lld of '%s': its text is not a JSON object; see "
                         "--show %lld",
                         revision, row->key, revision);
    return result < 0 ? result : write_acceptance(disk, &acceptance, err);
}

/* ---- removing -------------------------------------------------------------------------------- */

static int save_data(struct store_disk *disk, int64_t revision, const char *directory,
                     struct err *err)
{
    _cleanup_buf_ struct buf data;
    _cleanup_free_ char *file = mem_printf("%s/%lld", directory, (long long)revision);
    buf_init(&data, STORE_VALUE_MAX);
    int result = read_data(disk, revision, &data, err);
    return result < 0 ? result : file_write_atomic(file, data.data, data.size, 0600, err);
}

/* Removes the earlier versions of a deleted object. The caller removes the row of the deletion;
 * without that row, an earlier version would make the object exist again. */
static int remove_versions(struct store_disk *disk, const struct store_damaged_row *row,
                           struct err *err)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(disk->db, "DELETE FROM changes WHERE key = ? AND revision < ?", -1,
                           &statement, NULL) != SQLITE_OK)
        return store_disk_fail(disk, err);
    sqlite3_bind_text(statement, 1, row->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, row->revision);
    int result = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
    sqlite3_finalize(statement);
    return result;
}

/* Marks the revisions of lost changes as assigned, so that the loss is not reported again. Lost
 * changes cannot be restored. */
static int accept_loss(struct store_disk *disk, int64_t last, struct err *err)
{
    _cleanup_free_ char *sql =
        mem_printf("DELETE FROM sqlite_sequence WHERE name = 'changes';"
                   "INSERT INTO sqlite_sequence(name, seq) VALUES('changes', %lld);",
                   (long long)last);
    return store_disk_execute(disk, sql, err);
}

int store_check_remove(const char *path, const struct store_damage *damage, const char *directory,
                       struct err *err)
{
    _cleanup_(cleanup_store_disk) struct store_disk *disk = NULL;
    int result = file_make_dirs(directory, 0700, err);
    if (result == 0)
        result = store_disk_open(path, &disk, err);
    for (size_t i = 0; result == 0 && i < damage->rows_count; i++)
        result = save_data(disk, damage->rows[i].revision, directory, err);
    if (result == 0)
        result = store_disk_begin(disk, err);
    if (result < 0)
        return result;
    for (size_t i = 0; result == 0 && i < damage->rows_count; i++) {
        const struct store_damaged_row *row = &damage->rows[i];
        bool is_deletion = row->deleted && row->effect != STORE_DAMAGE_UNKNOWN;
        if (is_deletion)
            result = remove_versions(disk, row, err);
        if (result == 0)
            result = store_disk_drop(disk, row->revision, err);
    }
    if (result == 0 && damage->lost_last)
        result = accept_loss(disk, damage->lost_last, err);
    if (result == 0)
        result = store_disk_commit(disk, err);
    if (result < 0)
        store_disk_rollback(disk);
    return result;
}
