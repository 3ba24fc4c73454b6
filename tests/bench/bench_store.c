/* How many writes per second the store acknowledges. Each write is on disk when it is acknowledged,
 * and each of several writers waits for its acknowledgement. Compared with a plain loop on the same
 * file system that commits one row per transaction. Prints one line of JSON per number of writers.
 */
#include "base/mem.h"
#include "base/moment.h"
#include "base/system/file.h"
#include "loop/loop.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SIZE = 3000, RUN_MS = 1000, WRITERS_MAX = 256 };

struct bench {
    struct loop *loop;
    struct store *store;
    int64_t end_ns;
    size_t written;
    char value[VALUE_SIZE];
};

struct writer {
    struct bench *bench;
    char key[16];
};

static void fail(const struct err *err)
{
    mem_panic("%s", err->message);
}

static void write_one(struct writer *writer, int64_t expected);

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    struct writer *writer = context;
    if (err)
        fail(err);
    writer->bench->written++;
    if (moment_monotonic_ns() < writer->bench->end_ns)
        write_one(writer, object->revision);
}

static void write_one(struct writer *writer, int64_t expected)
{
    struct err err = ERR_INIT;
    struct bench *bench = writer->bench;
    if (store_put(bench->store, writer->key, bench->value, VALUE_SIZE, expected, on_done, writer,
                  &err) < 0)
        fail(&err);
}

static double run_store(const char *directory, int writers_count)
{
    struct err err = ERR_INIT;
    struct bench bench = {0};
    struct writer writers[WRITERS_MAX];
    _cleanup_free_ char *path = mem_printf("%s/store-%d", directory, writers_count);
    memset(bench.value, 'v', VALUE_SIZE);
    if (loop_new(&bench.loop, &err) < 0 ||
        store_open(bench.loop, &(struct store_options){.path = path}, &bench.store, &err) < 0)
        fail(&err);
    int64_t start = moment_monotonic_ns();
    bench.end_ns = start + RUN_MS * INT64_C(1000000);
    for (int i = 0; i < writers_count; i++) {
        writers[i].bench = &bench;
        snprintf(writers[i].key, sizeof(writers[i].key), "/k/%d", i);
        write_one(&writers[i], 0);
    }
    loop_run(bench.loop);
    double seconds = (double)(moment_monotonic_ns() - start) / 1e9;
    store_close(bench.store, NULL, NULL);
    loop_run(bench.loop);
    loop_free(bench.loop);
    return (double)bench.written / seconds;
}

static double run_peer(const char *directory)
{
    _cleanup_free_ char *path = mem_printf("%s/peer", directory);
    char value[VALUE_SIZE];
    memset(value, 'v', sizeof(value));
    sqlite3 *db;
    sqlite3_stmt *insert;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "CREATE TABLE rows(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, data BLOB)",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO rows(key, data) VALUES('/k', ?)", -1, &insert, NULL) !=
            SQLITE_OK)
        mem_panic("the peer cannot open its database: %s", sqlite3_errmsg(db));
    int64_t start = moment_monotonic_ns(), now;
    size_t written = 0;
    do {
        sqlite3_bind_blob(insert, 1, value, VALUE_SIZE, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            mem_panic("the peer cannot write a row: %s", sqlite3_errmsg(db));
        sqlite3_reset(insert);
        written++;
        now = moment_monotonic_ns();
    } while (now - start < RUN_MS * INT64_C(1000000));
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return (double)written * 1e9 / (double)(now - start);
}

int main(int argc, char **argv)
{
    static const int WRITERS[] = {1, 8, 64, 256};
    _cleanup_free_ char *directory =
        mem_printf("%s/bench-store.XXXXXX", argc > 1 ? argv[1] : "/var/tmp");
    if (!mkdtemp(directory))
        mem_panic("cannot create a directory in '%s'", argc > 1 ? argv[1] : "/var/tmp");
    double peer = run_peer(directory);
    for (size_t i = 0; i < ARRAY_SIZE(WRITERS); i++)
        printf("{\"name\":\"store rows, %d in "
               "flight\",\"value\":%.0f,\"unit\":\"rows/s\",\"peer\":\"sqlite, "
               "one row a transaction\",\"peer_value\":%.0f}\n",
               WRITERS[i], run_store(directory, WRITERS[i]), peer);
    file_remove_tree(directory, NULL);
    return 0;
}
