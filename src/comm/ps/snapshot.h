/* A server's variables on disk. A snapshot is written aside by a child of the server, which sees
 * the variables as they were at its birth while the server goes on, then synced and renamed: a
 * crash leaves the old or the new one, never half. The one before is kept as ".previous". Called by
 * ps_server. */
#ifndef TRAINYARD_COMM_PS_SNAPSHOT_H
#define TRAINYARD_COMM_PS_SNAPSHOT_H

#include "comm/ps/store.h"

#include <sys/types.h>

/* Whose variables they are; another's are refused. */
struct ps_snapshot_owner {
    uint64_t shape;
    uint32_t server, servers;
};

struct ps_snapshot_info {
    int64_t saved_ms; /* wall time */
    uint64_t rows;    /* in all tables */
    bool previous;    /* the last one was damaged or missing, the one before was taken */
};

struct ps_snapshot;

/* Snapshots "ps-<server>-of-<servers>.snapshot" in a directory, which is made. */
int ps_snapshot_new(const char *directory, const struct ps_snapshot_owner *owner,
                    struct ps_snapshot **ret, struct err *err);
struct ps_snapshot *ps_snapshot_free(struct ps_snapshot *snapshot); /* ends a child that writes */
DEFINE_CLEANUP(ps_snapshot)
const char *ps_snapshot_path(const struct ps_snapshot *snapshot);

/* Into an empty store. ret_found false: there is none, and nothing has changed. A damaged one is
 * put aside as ".damaged" if there is one before it, and told in `note`; else it is an error that
 * says what to do. */
enum { PS_SNAPSHOT_NOTE_MAX = ERR_MESSAGE_MAX + 64 };
int ps_snapshot_restore(struct ps_snapshot *snapshot, struct ps_store *store, bool *ret_found,
                        struct ps_snapshot_info *ret_info, char note[PS_SNAPSHOT_NOTE_MAX],
                        struct err *err);

/* Write now, in this process. */
int ps_snapshot_write(struct ps_snapshot *snapshot, const struct ps_store *store, struct err *err);

/* Start a child that writes; ret_fd is readable when it has ended, and ps_snapshot_finish() tells
 * how. One at a time. */
int ps_snapshot_start(struct ps_snapshot *snapshot, const struct ps_store *store, int *ret_fd,
                      struct err *err);
int ps_snapshot_finish(struct ps_snapshot *snapshot, struct err *err);

/* The bytes of a file: for restoring, and for a fuzzer. The store is not empty after a failure. */
int ps_snapshot_decode(const uint8_t *data, size_t size, const struct ps_snapshot_owner *owner,
                       struct ps_store *store, struct ps_snapshot_info *ret_info, struct err *err);

#endif
