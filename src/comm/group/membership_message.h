/* Encodes and decodes a membership message: a frame of wire.h whose sequence is the generation and
 * whose detail is the kind. Called by peer_discovery. */
#ifndef TRAINYARD_COMM_GROUP_MEMBERSHIP_MESSAGE_H
#define TRAINYARD_COMM_GROUP_MEMBERSHIP_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "comm/group/membership.h"
#include "comm/transport/wire.h"

/* Appends the whole frame to `out`, or nothing if the frame does not fit. `tasks` is the number of
 * tasks of the cluster. */
void membership_message_encode(const struct membership_message *message, int tasks,
                               struct buf *out);

/* Decodes a frame. `bytes` is the content of the frame after its head. The caller points ret->tasks
 * to a buffer of one byte per task, which is filled only for the kinds VIEW and PROPOSE. Fails with
 * ERR_BAD_REQUEST if the frame is not a valid membership message. */
int membership_message_decode(const struct wire_frame *frame, const uint8_t *bytes, int tasks,
                              struct membership_message *ret, struct err *err);

#endif
