/* Answers the requests of one worker from the store: bytes in, bytes out. Uses no socket, so that a
 * fuzzer can act as the worker. Called by ps_session. */
#ifndef TRAINYARD_COMM_PS_HANDLER_H
#define TRAINYARD_COMM_PS_HANDLER_H

#include "base/buf.h"
#include "comm/ps/wire.h"

struct ps_handler {
    struct ps_store *store;
    uint32_t worker; /* rank of the worker */
    bool attached;   /* the worker has sent PS_FRAME_ATTACH */
    uint64_t life;   /* a random number of the worker process, see struct ps_tally */
    float *seed;     /* the initial values of the dense range, while they arrive */
    size_t seed_count;

    /* Called during a long answer when the first `ready` bytes of `out` are final, so that they can
     * be sent while the rest is looked up. May be NULL. */
    void (*on_part)(void *context, size_t ready);
    void *context;
};

enum ps_handler_result {
    PS_HANDLER_ANSWERED,
    PS_HANDLER_SAVE,   /* the caller writes a snapshot and answers with ps_handler_done() */
    PS_HANDLER_FINISH, /* like PS_HANDLER_SAVE; the store has recorded that the worker has
                        * finished */
};

void ps_handler_init(struct ps_handler *handler, struct ps_store *store, uint32_t worker);
void ps_handler_release(struct ps_handler *handler);

/* Handles one request. `body` has frame->size bytes and is aligned to 8. Appends the answer to
 * `out`, which must have room for any answer. */
enum ps_handler_result ps_handler_request(struct ps_handler *handler, const struct ps_frame *frame,
                                          const uint8_t *body, struct buf *out);
/* ps_handler_done() appends the answer PS_FRAME_DONE, and ps_handler_refuse() appends
 * PS_FRAME_REFUSED with the error. */
void ps_handler_done(uint32_t sequence, struct buf *out);
void ps_handler_refuse(uint32_t sequence, const struct err *err, struct buf *out);

#endif
