/* Snapshots of the variables of a server on disk. A forked child writes a snapshot while the server
 * continues: the memory of the child has the variables as they were at the fork. A snapshot is
 * written to a temporary file, which is synced and then renamed, so that a crash never destroys the
 * last complete snapshot. The previous snapshot is kept as ".previous". Called by server_save.c. */
#ifndef TRAINYARD_COMM_PS_SNAPSHOT_H
#define TRAINYARD_COMM_PS_SNAPSHOT_H

#include "comm/ps/store.h"

#include <sys/types.h>

/* The server to which a snapshot belongs. A snapshot of another server is refused. */
struct ps_snapshot_owner {
    uint64_t shape;   /* hash of the model's shape */
    uint32_t server;  /* number of the server, from 0 */
    uint32_t servers; /* number of servers of the cluster */
};

struct ps_snapshot_info {
    int64_t saved_ms; /* wall clock time of the snapshot */
    uint64_t rows;    /* number of rows in all tables */
    bool previous; /* ".previous" was restored, because the newest snapshot is damaged or missing */
};

struct ps_snapshot;

/* The snapshot file is "ps-<server>-of-<servers>.snapshot" in `directory`. Creates the directory if
 * it is missing, and does not touch the file. The caller frees *ret with ps_snapshot_free(). */
int ps_snapshot_new(const char *directory, const struct ps_snapshot_owner *owner,
                    struct ps_snapshot **ret, struct err *err);
/* Kills the child if it is still writing. NULL-safe; returns NULL. */
struct ps_snapshot *ps_snapshot_free(struct ps_snapshot *snapshot);
DEFINE_CLEANUP(ps_snapshot)
/* Returns the path of the snapshot file. */
const char *ps_snapshot_path(const struct ps_snapshot *snapshot);

/* Restores the newest snapshot or, if it is damaged or missing, the previous snapshot. The store
 * must be empty. If neither exists, sets *ret_found to false and returns 0. If the newest snapshot
 * is damaged and the previous snapshot is restored, renames the damaged file to ".damaged" and
 * writes a sentence about this to `note`; otherwise `note` is empty. Fails if all existing
 * snapshots are damaged, or if a snapshot cannot be read or belongs to another server, model or
 * version. */
enum { PS_SNAPSHOT_NOTE_MAX = ERR_MESSAGE_MAX + 64 };
int ps_snapshot_restore(struct ps_snapshot *snapshot, struct ps_store *store, bool *ret_found,
                        struct ps_snapshot_info *ret_info, char note[PS_SNAPSHOT_NOTE_MAX],
                        struct err *err);

/* Writes a snapshot without a child process. Must not be called while a child is writing. */
int ps_snapshot_write(struct ps_snapshot *snapshot, const struct ps_store *store, struct err *err);

/* ps_snapshot_start() starts a child that writes a snapshot, and returns at once. At most one child
 * may run at a time. *ret_fd becomes readable when the child has ended. ps_snapshot_finish() waits
 * for the end of the child, closes *ret_fd, and returns 0 if the snapshot was written. */
int ps_snapshot_start(struct ps_snapshot *snapshot, const struct ps_store *store, int *ret_fd,
                      struct err *err);
int ps_snapshot_finish(struct ps_snapshot *snapshot, struct err *err);

/* Decodes the bytes of a snapshot into the store. Called by ps_snapshot_restore() and by a fuzzer.
 * Fails with ERR_BAD_REQUEST if the bytes are damaged. After a failure the store may contain a part
 * of the variables. */
int ps_snapshot_decode(const uint8_t *data, size_t size, const struct ps_snapshot_owner *owner,
                       struct ps_store *store, struct ps_snapshot_info *ret_info, struct err *err);

#endif
