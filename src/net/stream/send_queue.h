/* A queue of bytes to send: appended at the end, taken from the front, without moving the rest at
 * each step. Gives large memory back when it becomes empty. */
#ifndef TRAINYARD_NET_STREAM_SEND_QUEUE_H
#define TRAINYARD_NET_STREAM_SEND_QUEUE_H

#include "base/buf.h"

struct send_queue {
    struct buf buf;
    size_t taken; /* bytes of buf that are already taken, from the front */
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
        /* The bytes taken since the last move pay for moving less than half of the buffer. */
        buf_consume(&queue->buf, queue->taken);
        queue->taken = 0;
    }
}

#endif
