/* The connection of a worker to one server, which reconnects after a loss. The link keeps up to
 * PS_LINK_WINDOW pushes, each until the server has answered it, and one request until its answer
 * has arrived. If the connection is lost, the link reports the name of the server and waits for the
 * server. Then the link calls `reopen` to open the variables again, and sends the kept pushes and
 * the request again. Called by client_remote, on one thread. */
#ifndef TRAINYARD_COMM_PS_LINK_H
#define TRAINYARD_COMM_PS_LINK_H

#include "base/buf.h"
#include "comm/ps/member.h"
#include "comm/ps/wire.h"

enum { PS_LINK_WINDOW = 4 }; /* limit of pushes in flight */

struct ps_link;

/* Called when the server is connected again, before the link sends anything else. The function may
 * use only ps_link_exchange() on the link. If it returns -ERR_UNAVAILABLE, the link waits for the
 * server again; any other failure ends the call that found the connection lost. */
typedef int ps_link_reopen(void *context, struct ps_link *link, struct err *err);

struct ps_link {
    const struct ps_member *member;
    int rank;           /* rank of the server */
    int fd;             /* -1: the server is lost */
    int64_t timeout_ms; /* limit for the wait for a lost server, and for a server without answer */
    ps_link_reopen *reopen;
    void *context;     /* argument of `reopen` */
    uint32_t sequence; /* number of the newest push or request; ps_link_exchange() uses none */
    struct buf pushes[PS_LINK_WINDOW];
    size_t oldest, in_flight; /* ring buffer: index of the oldest push, and number of pushes */
    struct ps_frame request;  /* the request without an answer; type 0: none */
    const void *request_body; /* owned by the caller of ps_link_ask() */
    /* Error of the first refused push that was not returned yet. The next ps_link_push_room(),
     * ps_link_answer() or ps_link_flush() returns it. */
    struct err failure;
};

/* Takes ownership of `fd`, which is connected to the server. `member` must outlive the link. */
void ps_link_init(struct ps_link *link, const struct ps_member *member, int rank, int fd,
                  int64_t timeout_ms, ps_link_reopen *reopen, void *context);
void ps_link_release(struct ps_link *link); /* safe on zeroed memory */

/* ps_link_push_room() sets *ret_body to a buffer of frame->size bytes for the body of a push. If
 * PS_LINK_WINDOW pushes are in flight, it first waits for the answer to the oldest push. It fails
 * if the server refused an earlier push. The caller fills the body and calls ps_link_push_send(),
 * which sends the push. If ps_link_push_send() fails, the link keeps the push and sends it again
 * after the next reconnection. */
int ps_link_push_room(struct ps_link *link, const struct ps_frame *frame, uint8_t **ret_body,
                      struct err *err);
int ps_link_push_send(struct ps_link *link, struct err *err);

/* ps_link_ask() sends a request, and ps_link_answer() later receives the answer. `body` is the body
 * of the request; it must stay valid until ps_link_answer() returns. The body of the answer must
 * have exactly `size` bytes, or at most PS_FRAME_MAX bytes if `size` is PS_LINK_ANY. The caller
 * must not push, flush or ask again before ps_link_answer(): this would close the connection. */
enum { PS_LINK_ANY = -1 };
int ps_link_ask(struct ps_link *link, const struct ps_frame *frame, const void *body,
                struct err *err);
int ps_link_answer(struct ps_link *link, struct ps_frame *ret, void *ret_body, int64_t size,
                   struct err *err);

/* Sends a request and receives its answer, which must have no body. */
int ps_link_request(struct ps_link *link, const struct ps_frame *frame, const void *body,
                    struct ps_frame *ret, struct err *err);

/* Waits until the server has answered every push. Fails if the server refused one of them. */
int ps_link_flush(struct ps_link *link, struct err *err);

/* Like ps_link_request(), but fails with ERR_UNAVAILABLE if the connection is lost, instead of
 * reconnecting. Only for use in `reopen`. */
int ps_link_exchange(struct ps_link *link, const struct ps_frame *frame, const void *body,
                     struct ps_frame *ret, struct err *err);

#endif
