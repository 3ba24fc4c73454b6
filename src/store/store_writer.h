/* The store's thread: takes all changes that are queued, commits them in one transaction, and hands
 * them back to the loop. While it waits for the disk, the loop gathers the next batch. Without a
 * disk there is no thread, and changes come back in a later turn of the loop. */
#ifndef TRAINYARD_STORE_STORE_WRITER_H
#define TRAINYARD_STORE_STORE_WRITER_H

#include "base/list.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "store/store.h"
#include "store/store_disk.h"

#include <pthread.h>

/* A write on its way to the disk and back. It holds both references. */
struct store_change {
    struct list_link link; /* in a list of the writer */
    struct store_object *object;
    struct store_object *previous; /* NULL: it is created */
    bool deleted;
    store_done *done; /* may be NULL */
    void *context;
};

struct store_writer {
    struct loop *loop;
    struct store_disk *disk; /* NULL: in memory */
    struct loop_task task;   /* brings what is finished to the loop */
    /* On the loop's thread: changes that are on disk, and then those that are lost (if failure is
     * not NULL). A list may be empty. */
    void (*finished)(struct store_writer *writer, struct list_head *committed,
                     struct list_head *lost, const struct err *failure);
    void (*stopped)(struct store_writer *writer); /* the last call; all changes are back */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* Under the lock: */
    struct list_head queued, committed, lost; /* struct store_change */
    VEC(int64_t) drops; /* revisions to remove from the disk, in this order: what a deletion */
                        /* superseded goes before the mark of the deletion */
    struct err failure; /* code set: nothing is written any more */
    bool full;          /* the disk has no room beyond the reserve */
    bool refill;        /* try to fill up the reserve */
    bool stopping, ended, posted;
};

/* The caller sets loop, disk and the two callbacks first. Drops may come before the start; a writer
 * that was not started is released, one that was is stopped. */
void store_writer_init(struct store_writer *writer);
void store_writer_release(struct store_writer *writer);
int store_writer_start(struct store_writer *writer, struct err *err);
void store_writer_push(struct store_writer *writer, struct store_change *change);

/* The row of this revision is superseded: remove it along with some later commit. */
void store_writer_drop(struct store_writer *writer, int64_t revision);

/* After a failure that was not of the disk itself, and with no change under way: write again. */
void store_writer_recover(struct store_writer *writer);

/* Whether the disk was full when it was last written to; and have that looked at again. The answer
 * comes as a call of `finished` with empty lists. */
bool store_writer_is_full(struct store_writer *writer);
void store_writer_refill(struct store_writer *writer);

/* Finish what is queued, then call `stopped`. */
void store_writer_stop(struct store_writer *writer);

#endif
