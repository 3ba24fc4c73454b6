/* The writer thread of the store. It commits the queued changes in batches, one transaction per
 * batch, and then reports them on the loop thread. While the writer waits for the disk, the loop
 * thread queues changes for the next batch. A store without a disk has no writer thread; its
 * changes are reported in a later turn of the loop. */
#ifndef TRAINYARD_STORE_STORE_WRITER_H
#define TRAINYARD_STORE_STORE_WRITER_H

#include "base/list.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "store/store.h"
#include "store/store_disk.h"

#include <pthread.h>

/* A write that is queued, being committed or finished. It holds references to the new version of
 * the object and to the version before it. */
struct store_change {
    struct list_link link;         /* in one of the writer's lists */
    struct store_object *object;   /* the new version */
    struct store_object *previous; /* NULL: the object is created */
    bool deleted;
    store_done *done; /* may be NULL */
    void *context;
};

struct store_writer {
    struct loop *loop;
    struct store_disk *disk; /* NULL: in memory only */
    struct loop_task task;   /* reports finished changes on the loop thread */
    /* Called on the loop thread with the changes that are committed, and the changes that are lost
     * because of `failure`. Both lists may be empty. `failure` is NULL if `lost` is empty. */
    void (*finished)(struct store_writer *writer, struct list_head *committed,
                     struct list_head *lost, const struct err *failure);
    /* The last callback: all changes have been reported, and the thread has ended. */
    void (*stopped)(struct store_writer *writer);

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* The following members are protected by `lock`. */
    struct list_head queued, committed, lost; /* struct store_change */
    /* Revisions whose rows the next commits remove from the disk, in this order. The row of a
     * deletion must be removed after the superseded rows of the object. Otherwise the object would
     * exist again after a restart. */
    VEC(int64_t) drops;
    struct err failure; /* if the code is not 0, nothing is written until store_writer_recover() */
    bool full;          /* the disk was full at the last check (store_reserve.h) */
    bool refill;        /* the thread must allocate the missing part of the reserve */
    bool stopping;      /* the thread must end after the queued changes */
    bool ended;         /* the thread has ended */
    bool posted;        /* `task` is queued on the loop */
};

/* The caller sets loop, disk and the two callbacks before store_writer_init(). store_writer_drop()
 * may be called before store_writer_start(). The caller ends a started writer with
 * store_writer_stop(), and a writer that was not started with store_writer_release(). */
void store_writer_init(struct store_writer *writer);
void store_writer_release(struct store_writer *writer);
int store_writer_start(struct store_writer *writer, struct err *err);
void store_writer_push(struct store_writer *writer, struct store_change *change);

/* Removes the row of this revision as part of a later commit. */
void store_writer_drop(struct store_writer *writer, int64_t revision);

/* Clears `failure`, so that later changes are written again. Must be called only if the failure did
 * not damage the database and no change is pending. */
void store_writer_recover(struct store_writer *writer);

/* Returns whether the disk was full at the last check. store_writer_start() checks the disk, and
 * the thread checks it after each batch and after store_writer_refill(). After each check of the
 * thread `finished` is called, with empty lists if there are no changes. */
bool store_writer_is_full(struct store_writer *writer);
/* Asks the thread to allocate the missing part of the reserve and to check the disk again. Returns
 * at once. */
void store_writer_refill(struct store_writer *writer);

/* Starts to end the writer and returns at once. The thread commits the queued changes; then
 * `stopped` is called on the loop thread. */
void store_writer_stop(struct store_writer *writer);

#endif
