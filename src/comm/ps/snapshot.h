/* Snapshots of the variables of a server on disk. A forked child writes the snapshot: its memory
 * has the variables as they were at the fork, while the server continues. The child writes a
 * temporary file, syncs it and renames it, so that a crash leaves the old or the new snapshot. The
 * snapshot before the last is kept as ".previous". Called by ps_server. */
#ifndef TRAINYARD_COMM_PS_SNAPSHOT_H
#define TRAINYARD_COMM_PS_SNAPSHOT_H

#include "comm/ps/store.h"

#include <sys/types.h>

/* The server to which a snapshot belongs. A snapshot of another server is refused. */
struct ps_snapshot_owner {
    uint64_t shape;
    uint32_t server, servers;
};

struct ps_snapshot_info {
    int64_t saved_ms; /* wall clock time of the snapshot */
    uint64_t rows;    /* number of rows in all tables */
    bool previous;    /* the previous snapshot was restored: the last was damaged or missing */
};

struct ps_snapshot;

/* The snapshot file is "ps-<server>-of-<servers>.snapshot" in `directory`, which is created. The
 * caller frees *ret with ps_snapshot_free(). */
int ps_snapshot_new(const char *directory, const struct ps_snapshot_owner *owner,
                    struct ps_snapshot **ret, struct err *err);
/* Kills a child that is writing. NULL-safe; returns NULL. */
struct ps_snapshot *ps_snapshot_free(struct ps_snapshot *snapshot);
DEFINE_CLEANUP(ps_snapshot)
const char *ps_snapshot_path(const struct ps_snapshot *snapshot);

/* Restores the last snapshot into an empty store or, if it is damaged or missing, the previous
 * snapshot. If neither exists, sets *ret_found to false and returns 0. If the previous snapshot
 * replaces a damaged one, the damaged file is renamed to ".damaged" and `note` says so; otherwise
 * `note` is empty. If all existing snapshots are damaged, fails with an error that says what to
 * do. */
enum { PS_SNAPSHOT_NOTE_MAX = ERR_MESSAGE_MAX + 64 };
int ps_snapshot_restore(struct ps_snapshot *snapshot, struct ps_store *store, bool *ret_found,
                        struct ps_snapshot_info *ret_info, char note[PS_SNAPSHOT_NOTE_MAX],
                        struct err *err);

/* Writes a snapshot without a child process. */
int ps_snapshot_write(struct ps_snapshot *snapshot, const struct ps_store *store, struct err *err);

/* Starts a child that writes a snapshot. At most one child runs at a time. *ret_fd becomes readable
 * when the child has ended. Then the caller gets the result from ps_snapshot_finish(), which also
 * closes *ret_fd. */
int ps_snapshot_start(struct ps_snapshot *snapshot, const struct ps_store *store, int *ret_fd,
                      struct err *err);
int ps_snapshot_finish(struct ps_snapshot *snapshot, struct err *err);

/* Decodes the bytes of a snapshot into the store. Called by ps_snapshot_restore() and by a fuzzer.
 * After a failure the store may contain a part of the variables. */
int ps_snapshot_decode(const uint8_t *data, size_t size, const struct ps_snapshot_owner *owner,
                       struct ps_store *store, struct ps_snapshot_info *ret_info, struct err *err);

#endif
