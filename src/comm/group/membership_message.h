/* The bytes of what tasks tell each other while they form a group: a frame of the wire whose
 * sequence is the generation and whose detail is the kind. Called by lobby. */
#ifndef TRAINYARD_COMM_MEMBERSHIP_MESSAGE_H
#define TRAINYARD_COMM_MEMBERSHIP_MESSAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "comm/group/membership.h"
#include "comm/transport/wire.h"

/* Appends the whole frame; `tasks` of them are described. */
void membership_message_encode(const struct membership_message *message, int tasks,
                               struct buf *out);

/* `bytes` are those behind the frame's head; ret->tasks is the caller's memory, a byte a task, and
 * is written only where the kind has tasks. */
int membership_message_decode(const struct wire_frame *frame, const uint8_t *bytes, int tasks,
                              struct membership_message *ret, struct err *err);

#endif
