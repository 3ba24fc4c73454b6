/* Writes and restores snapshots of the variables of a server; see snapshot.h. The writing code runs
 * in a forked child of a process that may have threads. So between fork() and _exit() it makes only
 * system calls and plain computations, and allocates nothing. */
#include "comm/ps/snapshot.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/system/file.h"
#include "comm/ps/snapshot_format.h"
#include "comm/ps/update.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

enum { WRITE_SIZE = 1 << 20 }; /* bytes per write() */

struct ps_snapshot {
    struct ps_snapshot_owner owner;
    char *directory, *path, *previous, *damaged, *temporary;
    uint8_t *buffer; /* WRITE_SIZE bytes, allocated before the fork */
    pid_t child;     /* process id of the child that writes; 0: no child */
    int child_fd;
};

int ps_snapshot_new(const char *directory, const struct ps_snapshot_owner *owner,
                    struct ps_snapshot **ret, struct err *err)
{
    int result = file_make_dirs(directory, 0777, err);
    if (result < 0)
        return result;
    struct ps_snapshot *snapshot = mem_zalloc(sizeof(*snapshot));
    snapshot->owner = *owner;
    snapshot->directory = mem_strdup(directory);
    snapshot->path =
        mem_printf("%s/ps-%u-of-%u.snapshot", directory, owner->server, owner->servers);
    snapshot->previous = mem_printf("%s.previous", snapshot->path);
    snapshot->damaged = mem_printf("%s.damaged", snapshot->path);
    snapshot->temporary = mem_printf("%s.new", snapshot->path);
    snapshot->buffer = mem_alloc(WRITE_SIZE);
    snapshot->child_fd = -1;
    *ret = snapshot;
    return 0;
}

struct ps_snapshot *ps_snapshot_free(struct ps_snapshot *snapshot)
{
    if (!snapshot)
        return NULL;
    if (snapshot->child) {
        kill(snapshot->child, SIGKILL);
        (void)ps_snapshot_finish(snapshot, NULL);
    }
    free(snapshot->directory);
    free(snapshot->path);
    free(snapshot->previous);
    free(snapshot->damaged);
    free(snapshot->temporary);
    free(snapshot->buffer);
    free(snapshot);
    return NULL;
}

const char *ps_snapshot_path(const struct ps_snapshot *snapshot)
{
    return snapshot->path;
}

/* ---- Writing. The static functions that return an int return 0 or an errno, except
 * snapshot_write_error(). */

struct writer {
    int fd;
    uint8_t *buffer;
    size_t used;
    uLong crc; /* of all bytes so far */
    int error; /* errno of the first failed write; 0: none; later writes are skipped */
};

static void snapshot_write_out(struct writer *writer)
{
    for (size_t at = 0; at < writer->used && !writer->error;) {
        ssize_t written = write(writer->fd, writer->buffer + at, writer->used - at);
        if (written < 0 && errno != EINTR)
            writer->error = errno;
        at += written < 0 ? 0 : (size_t)written;
    }
    writer->used = 0;
}

static void snapshot_put(struct writer *writer, const void *data, size_t size)
{
    const uint8_t *at = data;
    if (size)
        writer->crc = crc32_z(writer->crc, at, size);
    while (size) {
        size_t room = WRITE_SIZE - writer->used, part = size < room ? size : room;
        memcpy(writer->buffer + writer->used, at, part);
        writer->used += part;
        at += part;
        size -= part;
        if (writer->used == WRITE_SIZE)
            snapshot_write_out(writer);
    }
}

static void snapshot_put_head(struct writer *writer, const struct ps_snapshot_owner *owner,
                              const struct ps_store *store, const struct ps_store_view *view)
{
    struct ps_snapshot_head head = {.version = PS_SNAPSHOT_VERSION,
                                    .shape = owner->shape,
                                    .server = owner->server,
                                    .servers = owner->servers,
                                    .saved_ms = moment_wall_ms(),
                                    .tables = (uint32_t)ps_store_table_count(store),
                                    .tallies = (uint32_t)view->tally_count,
                                    .seeded = view->seeded};
    memcpy(head.magic, PS_SNAPSHOT_MAGIC, sizeof(head.magic));
    memcpy(head.past_totals, view->past_totals, sizeof(view->past_totals));
    ps_wire_dense_encode(&view->dense, head.dense);
    snapshot_put(writer, &head, sizeof(head));
    for (size_t i = 0; i < view->tally_count; i++) {
        const struct ps_tally *tally = &view->tallies[i];
        struct ps_snapshot_tally record = {.worker = tally->worker,
                                           .finished = tally->finished,
                                           .incarnation = tally->incarnation};
        memcpy(record.totals, tally->totals, sizeof(tally->totals));
        snapshot_put(writer, &record, sizeof(record));
    }
}

static void snapshot_put_table(struct writer *writer, const struct embedding_table *table)
{
    struct ps_snapshot_table record = {.rows = embedding_table_rows(table)};
    ps_wire_table_encode(embedding_table_shape(table), record.shape);
    snapshot_put(writer, &record, sizeof(record));
    const int64_t *ids;
    const float *rows;
    size_t count, stride = embedding_table_stride(table);
    for (size_t at = 0; (count = embedding_table_span(table, at, &ids, &rows)) > 0; at += count) {
        const uint64_t span = count;
        snapshot_put(writer, &span, sizeof(span));
        snapshot_put(writer, ids, count * sizeof(*ids));
        snapshot_put(writer, rows, count * stride * sizeof(*rows));
    }
}

static int snapshot_write_temporary(const struct ps_snapshot *snapshot,
                                    const struct ps_store *store)
{
    _cleanup_fd_ int fd = open(snapshot->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    struct writer writer = {.fd = fd, .buffer = snapshot->buffer, .crc = crc32(0, NULL, 0)};
    struct ps_store_view view = ps_store_view(store);
    snapshot_put_head(&writer, &snapshot->owner, store, &view);
    snapshot_put(&writer, view.values, view.dense.count * sizeof(float));
    snapshot_put(&writer, view.state,
                 view.dense.total
                     ? ps_update_state_count(&view.dense.update, view.dense.count) * sizeof(float)
                     : 0);
    for (size_t i = 0; i < ps_store_table_count(store); i++)
        snapshot_put_table(&writer, ps_store_table(store, i));
    const uint32_t crc = (uint32_t)writer.crc;
    snapshot_put(&writer, &crc, sizeof(crc));
    snapshot_write_out(&writer);
    if (!writer.error && fsync(fd) < 0)
        writer.error = errno;
    return writer.error;
}

/* Renames the snapshot to ".previous" and the temporary file to the snapshot. Between the two
 * renames only ".previous" exists; a restore then uses it. */
static int snapshot_put_in_place(const struct ps_snapshot *snapshot)
{
    if ((rename(snapshot->path, snapshot->previous) < 0 && errno != ENOENT) ||
        rename(snapshot->temporary, snapshot->path) < 0)
        return errno;
    _cleanup_fd_ int fd = open(snapshot->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? errno : 0;
}

static int snapshot_write_all(const struct ps_snapshot *snapshot, const struct ps_store *store)
{
    int errnum = snapshot_write_temporary(snapshot, store);
    if (!errnum)
        errnum = snapshot_put_in_place(snapshot);
    if (errnum)
        unlink(snapshot->temporary);
    return errnum;
}

/* Turns an errno into an error. Returns 0 if `errnum` is 0. */
static int snapshot_write_error(const struct ps_snapshot *snapshot, int errnum, struct err *err)
{
    return errnum ? err_set_errno(err, errnum, "cannot write '%s'", snapshot->path) : 0;
}

int ps_snapshot_write(struct ps_snapshot *snapshot, const struct ps_store *store, struct err *err)
{
    return snapshot_write_error(snapshot, snapshot_write_all(snapshot, store), err);
}

int ps_snapshot_start(struct ps_snapshot *snapshot, const struct ps_store *store, int *ret_fd,
                      struct err *err)
{
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return err_set_errno(err, errno, "cannot write '%s'", snapshot->path);
    if (child == 0) {
        /* The child must not keep the connections and the port of the server open. It must not
         * outlive the server, because the next server may already read the snapshot. */
        (void)close_range(3, ~0U, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? snapshot_write_all(snapshot, store) & 0xff : ECANCELED);
    }
    snapshot->child = child;
    snapshot->child_fd = pidfd_open(child, 0);
    if (snapshot->child_fd < 0) {
        int result = err_set_errno(err, errno, "cannot wait for the process that writes '%s'",
                                   snapshot->path);
        kill(child, SIGKILL);
        (void)ps_snapshot_finish(snapshot, NULL);
        return result;
    }
    *ret_fd = snapshot->child_fd;
    return 0;
}

int ps_snapshot_finish(struct ps_snapshot *snapshot, struct err *err)
{
    int wait_status = 0;
    pid_t ended;
    do
        ended = waitpid(snapshot->child, &wait_status, 0);
    while (ended < 0 && errno == EINTR);
    snapshot->child = 0;
    if (snapshot->child_fd >= 0)
        close(snapshot->child_fd);
    snapshot->child_fd = -1;
    if (ended < 0 || !WIFEXITED(wait_status))
        return err_set(err, ERR_IO, "cannot write '%s': the process that wrote it was killed",
                       snapshot->path);
    return snapshot_write_error(snapshot, WEXITSTATUS(wait_status), err);
}

/* ---- Restoring */

/* Fails with ERR_NOT_FOUND if the file does not exist, and with ERR_BAD_REQUEST if it is damaged.
 */
static int snapshot_restore_one(const struct ps_snapshot *snapshot, const char *path,
                                struct ps_store *store, struct ps_snapshot_info *ret_info,
                                struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) < 0)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    size_t size = (size_t)info.st_size;
    if (size == 0)
        return err_set(err, ERR_BAD_REQUEST, "'%s' is damaged: it is empty", path);
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    int result = ps_snapshot_decode(data, size, &snapshot->owner, store, ret_info, err);
    munmap(data, size);
    if (result == -ERR_BAD_REQUEST)
        return err_wrap(err, "'%s' is damaged", path);
    return result < 0 ? err_wrap(err, "cannot use '%s'", path) : 0;
}

int ps_snapshot_restore(struct ps_snapshot *snapshot, struct ps_store *store, bool *ret_found,
                        struct ps_snapshot_info *ret_info, char note[PS_SNAPSHOT_NOTE_MAX],
                        struct err *err)
{
    struct err last = ERR_INIT, before = ERR_INIT;
    note[0] = '\0';
    *ret_found = true;
    int result = snapshot_restore_one(snapshot, snapshot->path, store, ret_info, &last);
    if (result == 0)
        return 0;
    if (last.code != ERR_NOT_FOUND && last.code != ERR_BAD_REQUEST)
        return err_set(err, last.code, "%s", last.message);
    ps_store_clear(store);
    result = snapshot_restore_one(snapshot, snapshot->previous, store, ret_info, &before);
    if (result == 0) {
        ret_info->previous = true;
        if (last.code == ERR_BAD_REQUEST) {
            /* Move the damaged file away: the next snapshot would otherwise rename it over the good
             * one. */
            (void)rename(snapshot->path, snapshot->damaged);
            snprintf(note, PS_SNAPSHOT_NOTE_MAX, "%s; it is kept with the suffix '.damaged'",
                     last.message);
        }
        return 0;
    }
    ps_store_clear(store);
    *ret_found = false;
    if (last.code == ERR_NOT_FOUND && before.code == ERR_NOT_FOUND)
        return 0;
    const struct err *damage = last.code == ERR_BAD_REQUEST ? &last : &before;
    return err_set(err, damage->code,
                   "%s, and there is no other usable snapshot: remove the file to start with "
                   "initial values",
                   damage->message);
}
