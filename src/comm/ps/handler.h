/* Answers the requests of one worker from the variables of a ps_store. Requests and answers are
 * bytes in memory: the handler uses no socket, so that a fuzzer can act as the worker. Called by
 * ps_session. */
#ifndef TRAINYARD_COMM_PS_HANDLER_H
#define TRAINYARD_COMM_PS_HANDLER_H

#include "base/buf.h"
#include "comm/ps/wire.h"

struct ps_handler {
    struct ps_store *store;
    uint32_t worker;      /* rank of the worker */
    bool attached;        /* the worker has sent PS_FRAME_ATTACH */
    uint64_t incarnation; /* random number of the worker's process, see struct ps_tally */
    float *seed;          /* initial values of the dense range that have arrived; NULL: none */
    size_t seed_count;    /* number of values that have arrived */

    /* Called while a long answer is computed, when the first `ready` bytes of `out` are final. They
     * can be sent while the rest is looked up. May be NULL. */
    void (*on_part)(void *context, size_t ready);
    void *context;
};

enum ps_handler_result {
    PS_HANDLER_ANSWERED, /* the answer is in `out` */
    /* The caller must save all changes, then answer with ps_handler_done() or
     * ps_handler_refuse(). */
    PS_HANDLER_SAVE,
    /* Like PS_HANDLER_SAVE. The store has recorded that the worker has finished. */
    PS_HANDLER_FINISH,
};

void ps_handler_init(struct ps_handler *handler, struct ps_store *store, uint32_t worker);
void ps_handler_release(struct ps_handler *handler);

/* Handles one request. `frame` was checked by ps_frame_decode(). `body` has frame->size bytes and
 * is aligned to 8. Appends the answer to `out`, unless the caller must write a snapshot first.
 * `out` must have room for the head and PS_FRAME_MAX more bytes, or the process aborts. */
enum ps_handler_result ps_handler_request(struct ps_handler *handler, const struct ps_frame *frame,
                                          const uint8_t *body, struct buf *out);
/* ps_handler_done() appends the answer PS_FRAME_DONE to `out`, and ps_handler_refuse() appends
 * PS_FRAME_REFUSED with the error. `sequence` is the sequence number of the request. */
void ps_handler_done(uint32_t sequence, struct buf *out);
void ps_handler_refuse(uint32_t sequence, const struct err *err, struct buf *out);

#endif
