/* The writer thread of the store: commits all queued changes in one transaction, and returns them
 * to the loop. While it waits for the disk, the loop queues the next batch. Without a disk there is
 * no thread, and changes return in a later turn of the loop. */
#ifndef TRAINYARD_STORE_STORE_WRITER_H
#define TRAINYARD_STORE_STORE_WRITER_H

#include "base/list.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "store/store.h"
#include "store/store_disk.h"

#include <pthread.h>

/* A write that is queued, being committed or finished. It holds references to both versions. */
struct store_change {
    struct list_link link; /* in one of the writer's lists */
    struct store_object *object;
    struct store_object *previous; /* NULL: the object is created */
    bool deleted;
    store_done *done; /* may be NULL */
    void *context;
};

struct store_writer {
    struct loop *loop;
    struct store_disk *disk; /* NULL: in memory only */
    struct loop_task task;   /* returns finished changes to the loop */
    /* Called on the loop thread with changes that are on disk, and then with changes that are lost
     * (`failure` is not NULL). A list may be empty. */
    void (*finished)(struct store_writer *writer, struct list_head *committed,
                     struct list_head *lost, const struct err *failure);
    /* The last callback; all changes have been returned. */
    void (*stopped)(struct store_writer *writer);

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* The following members are protected by `lock`. */
    struct list_head queued, committed, lost; /* struct store_change */
    /* Revisions to remove from the disk, in this order: superseded rows of a deleted object go
     * before the row of the deletion. */
    VEC(int64_t) drops;
    struct err failure; /* if its code is set, nothing is written any more */
    bool full;          /* the disk has no space beyond the reserve */
    bool refill;        /* the reserve is to be filled up */
    bool stopping, ended, posted;
};

/* The caller sets loop, disk and the two callbacks first. store_writer_drop() may be called before
 * the start. A writer that was not started is released; a started one is stopped. */
void store_writer_init(struct store_writer *writer);
void store_writer_release(struct store_writer *writer);
int store_writer_start(struct store_writer *writer, struct err *err);
void store_writer_push(struct store_writer *writer, struct store_change *change);

/* The row of this revision is superseded: removes it together with a later commit. */
void store_writer_drop(struct store_writer *writer, int64_t revision);

/* Accepts writes again after a failure that was not the disk's fault. No change may be pending. */
void store_writer_recover(struct store_writer *writer);

/* Whether the disk was full after the last write. store_writer_refill() checks it again; `finished`
 * is then called with empty lists. */
bool store_writer_is_full(struct store_writer *writer);
void store_writer_refill(struct store_writer *writer);

/* Commits the queued changes, then calls `stopped`. */
void store_writer_stop(struct store_writer *writer);

#endif
