/* The connection of a worker to one server, which reconnects after a loss. The link keeps each push
 * until the server has applied it, up to PS_LINK_WINDOW pushes, and a request until its answer has
 * arrived. If the server is lost, the link reports its name and waits for it. Then it calls
 * `reopen` to open the variables again, and sends the kept pushes and the request again. Called by
 * client_remote, on one thread. */
#ifndef TRAINYARD_COMM_PS_LINK_H
#define TRAINYARD_COMM_PS_LINK_H

#include "base/buf.h"
#include "comm/ps/member.h"
#include "comm/ps/wire.h"

enum { PS_LINK_WINDOW = 4 }; /* limit of pushes in flight */

struct ps_link;

/* Called after a server has come back, before anything else is sent. The function may use only
 * ps_link_exchange() on the link. It returns -ERR_UNAVAILABLE if the server is lost again. */
typedef int ps_link_reopen(void *context, struct ps_link *link, struct err *err);

struct ps_link {
    const struct ps_member *member;
    int rank; /* rank of the server */
    int fd;   /* -1: the server is lost */
    int64_t timeout_ms;
    ps_link_reopen *reopen;
    void *context;
    uint32_t sequence; /* sequence number of the last frame */
    struct buf pushes[PS_LINK_WINDOW];
    size_t oldest, in_flight; /* ring buffer: index of the oldest push, and number of pushes */
    struct ps_frame request;  /* the request without an answer; type 0: none */
    const void *request_body;
    struct err failure; /* error of a refused push; a later call that receives answers returns it */
};

/* Takes ownership of the connection. */
void ps_link_init(struct ps_link *link, const struct ps_member *member, int rank, int fd,
                  int64_t timeout_ms, ps_link_reopen *reopen, void *context);
void ps_link_release(struct ps_link *link); /* safe on zeroed memory */

/* ps_link_push_room() sets *ret_body to a buffer of frame->size bytes for the body of a push. If
 * the window is full, it waits until the oldest push is applied. The caller fills the body, then
 * ps_link_push_send() sends the push. */
int ps_link_push_room(struct ps_link *link, const struct ps_frame *frame, uint8_t **ret_body,
                      struct err *err);
int ps_link_push_send(struct ps_link *link, struct err *err);

/* ps_link_ask() sends a request, and ps_link_answer() later receives the answer. The body of the
 * answer must have exactly `size` bytes, or at most PS_FRAME_MAX bytes if `size` is PS_LINK_ANY.
 * `body` must stay valid until the answer has arrived. */
enum { PS_LINK_ANY = -1 };
int ps_link_ask(struct ps_link *link, const struct ps_frame *frame, const void *body,
                struct err *err);
int ps_link_answer(struct ps_link *link, struct ps_frame *ret, void *ret_body, int64_t size,
                   struct err *err);

/* ps_link_ask() and ps_link_answer() in one call, for a request whose answer has no body. */
int ps_link_request(struct ps_link *link, const struct ps_frame *frame, const void *body,
                    struct ps_frame *ret, struct err *err);

/* Waits until the server has applied every push. */
int ps_link_flush(struct ps_link *link, struct err *err);

/* Like ps_link_request(), but does not reconnect. Only for use in `reopen`. */
int ps_link_exchange(struct ps_link *link, const struct ps_frame *frame, const void *body,
                     struct ps_frame *ret, struct err *err);

#endif
