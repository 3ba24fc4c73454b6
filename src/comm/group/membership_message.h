/* The bytes of a membership message: a frame of wire.h whose sequence is the generation and whose
 * detail is the kind. Called by peer_discovery. */
#ifndef TRAINYARD_COMM_GROUP_MEMBERSHIP_MESSAGE_H
#define TRAINYARD_COMM_GROUP_MEMBERSHIP_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "comm/group/membership.h"
#include "comm/transport/wire.h"

/* Appends the whole frame to `out`; `tasks` is the number of tasks. Appends nothing if `out` is
 * full. */
void membership_message_encode(const struct membership_message *message, int tasks,
                               struct buf *out);

/* `bytes` are those after the head of the frame. The caller sets ret->tasks to room for one byte
 * per task, which is written only if the kind has tasks. Fails with ERR_BAD_REQUEST. */
int membership_message_decode(const struct wire_frame *frame, const uint8_t *bytes, int tasks,
                              struct membership_message *ret, struct err *err);

#endif
