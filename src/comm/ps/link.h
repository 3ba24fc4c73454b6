/* A worker's connection to one server, which may be lost and made again. Pushes are sent and kept
 * until the server says that they are applied, a few at a time; a request is kept until its answer
 * has come. When the server is lost, the link waits for it by name, asks its owner to open there
 * again what is open, and sends what is kept once more. Called by ps_client_remote; one thread. */
#ifndef TRAINYARD_COMM_PS_LINK_H
#define TRAINYARD_COMM_PS_LINK_H

#include "base/buf.h"
#include "comm/ps/member.h"
#include "comm/ps/wire.h"

enum { PS_LINK_WINDOW = 4 }; /* pushes under way */

struct ps_link;

/* What to do with a server that has come back, before anything else is sent: called with a link on
 * which ps_link_exchange() works and nothing else. ERR_UNAVAILABLE: lost again. */
typedef int ps_link_reopen(void *context, struct ps_link *link, struct err *err);

struct ps_link {
    const struct ps_member *member;
    int rank; /* the server's */
    int fd;   /* -1: lost */
    int64_t timeout_ms;
    ps_link_reopen *reopen;
    void *context;
    uint32_t sequence; /* of the last frame made */
    struct buf pushes[PS_LINK_WINDOW];
    size_t oldest, under_way;
    struct ps_frame request; /* type 0: none */
    const void *request_body;
    struct err failure; /* a push that was refused: told by the next call */
};

/* Takes the connection. */
void ps_link_init(struct ps_link *link, const struct ps_member *member, int rank, int fd,
                  int64_t timeout_ms, ps_link_reopen *reopen, void *context);
void ps_link_release(struct ps_link *link); /* safe on zeroed memory */

/* Room for a push with a body of frame->size bytes, waiting for the oldest if the window is full;
 * then send it. */
int ps_link_push_room(struct ps_link *link, const struct ps_frame *frame, uint8_t **ret_body,
                      struct err *err);
int ps_link_push_send(struct ps_link *link, struct err *err);

/* Send a request and, later, take its answer: exactly `size` bytes of body if `size` is not
 * PS_LINK_ANY, else up to PS_FRAME_MAX. What the body points to stays until the answer has come. */
enum { PS_LINK_ANY = -1 };
int ps_link_ask(struct ps_link *link, const struct ps_frame *frame, const void *body,
                struct err *err);
int ps_link_answer(struct ps_link *link, struct ps_frame *ret, void *ret_body, int64_t size,
                   struct err *err);

/* Both, of a request whose answer has no body. */
int ps_link_request(struct ps_link *link, const struct ps_frame *frame, const void *body,
                    struct ps_frame *ret, struct err *err);

/* Wait until every push is applied. */
int ps_link_flush(struct ps_link *link, struct err *err);

/* Only in `reopen`: the same on the connection as it is. */
int ps_link_exchange(struct ps_link *link, const struct ps_frame *frame, const void *body,
                     struct ps_frame *ret, struct err *err);

#endif
