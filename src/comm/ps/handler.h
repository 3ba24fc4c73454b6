/* One worker's requests, answered from the store: bytes in, bytes out. Knows no socket, so that a
 * fuzzer can be the worker. Called by ps_session. */
#ifndef TRAINYARD_COMM_PS_HANDLER_H
#define TRAINYARD_COMM_PS_HANDLER_H

#include "base/buf.h"
#include "comm/ps/wire.h"

struct ps_handler {
    struct ps_store *store;
    uint32_t worker; /* its rank */
    bool attached;
    uint64_t life;
    float *seed; /* first values of the dense range, while they come */
    size_t seed_count;

    /* May be set: told that the first `ready` bytes of `out` will not change any more while the
     * rest of a long answer is looked up, so that they can be on their way. */
    void (*on_part)(void *context, size_t ready);
    void *context;
};

enum ps_handler_result {
    PS_HANDLER_ANSWERED,
    PS_HANDLER_SAVE,   /* for the caller to do, and to answer with ps_handler_done() */
    PS_HANDLER_FINISH, /* the same; the store knows already */
};

void ps_handler_init(struct ps_handler *handler, struct ps_store *store, uint32_t worker);
void ps_handler_release(struct ps_handler *handler);

/* `body` is frame->size bytes, aligned to 8. The answer is appended to `out`, which has room for
 * any. */
enum ps_handler_result ps_handler_request(struct ps_handler *handler, const struct ps_frame *frame,
                                          const uint8_t *body, struct buf *out);
void ps_handler_done(uint32_t sequence, struct buf *out);
void ps_handler_refuse(uint32_t sequence, const struct err *err, struct buf *out);

#endif
