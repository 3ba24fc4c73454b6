/* A queue of bytes to send. The owner appends bytes to `buf` and removes them from the front with
 * send_queue_take(), mostly without moving the rest. When the queue becomes empty, a buffer of more
 * than 64 KiB is freed. */
#ifndef TRAINYARD_NET_STREAM_SEND_QUEUE_H
#define TRAINYARD_NET_STREAM_SEND_QUEUE_H

#include "base/buf.h"

struct send_queue {
    struct buf buf;
    size_t taken; /* number of bytes at the front of `buf` that are already removed */
};

static inline void send_queue_init(struct send_queue *queue, size_t max)
{
    buf_init(&queue->buf, max);
    queue->taken = 0;
}

static inline void send_queue_release(struct send_queue *queue)
{
    buf_release(&queue->buf);
    queue->taken = 0;
}

static inline size_t send_queue_size(const struct send_queue *queue)
{
    return queue->buf.size - queue->taken;
}

static inline const char *send_queue_data(const struct send_queue *queue)
{
    return queue->buf.data + queue->taken;
}

/* Removes `size` bytes from the front. */
static inline void send_queue_take(struct send_queue *queue, size_t size)
{
    enum { KEPT_MAX = 64 * 1024 };
    queue->taken += size;
    if (queue->taken == queue->buf.size) {
        queue->taken = 0;
        if (queue->buf.capacity > KEPT_MAX)
            buf_release(&queue->buf);
        else
            buf_clear(&queue->buf);
    } else if (queue->taken > queue->buf.size / 2) {
        /* Less than half of the buffer is moved, so the cost per removed byte is constant. */
        buf_consume(&queue->buf, queue->taken);
        queue->taken = 0;
    }
}

#endif
