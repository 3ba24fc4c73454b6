/* A stream in memory for tests and fuzzers. The test plays the peer. Works on any loop. */
#ifndef TRAINYARD_TESTS_UNIT_NET_MEMORY_STREAM_H
#define TRAINYARD_TESTS_UNIT_NET_MEMORY_STREAM_H

#include "base/buf.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

struct memory_stream {
    struct stream stream;
    struct loop *loop;
    struct loop_task task;
    struct buf in;  /* sent by the test, not read yet */
    struct buf out; /* all written bytes */
    size_t taken;   /* bytes of `out` that the peer has read */
    size_t piece;   /* the most bytes delivered at once; 0: any */
    bool holds;     /* the peer does not read */
    bool opened, paused, end_sent, end_told, broken, sent_told, shut, finishing;
    bool *ret_closed; /* set to true when the stream is gone */
};

struct memory_stream *memory_stream_new(struct loop *loop, bool *ret_closed);

/* Functions for the peer's side. */
void memory_stream_send(struct memory_stream *self, const void *data, size_t size);
void memory_stream_hold(struct memory_stream *self, bool holds);
void memory_stream_send_end(struct memory_stream *self); /* the peer sends no more */
void memory_stream_break(struct memory_stream *self);    /* the connection breaks */

#endif
