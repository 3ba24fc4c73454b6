/* Implements the encoding of membership messages; see membership_message.h. */
#include "comm/group/membership_message.h"

#include <endian.h>
#include <string.h>

enum { NUMBERS_SIZE = 16 }; /* bytes of `live` and `machine`, which precede the tasks */

_Static_assert(NUMBERS_SIZE + MEMBERSHIP_TASKS_MAX <= WIRE_FRAME_MAX,
               "the largest group fits a frame");

static bool message_has_tasks(enum membership_kind kind)
{
    return kind == MEMBERSHIP_VIEW || kind == MEMBERSHIP_PROPOSE;
}

static size_t message_size(enum membership_kind kind, int tasks)
{
    return message_has_tasks(kind) ? NUMBERS_SIZE + (size_t)tasks : 0;
}

void membership_message_encode(const struct membership_message *message, int tasks, struct buf *out)
{
    size_t size = message_size(message->kind, tasks);
    uint8_t *at = (uint8_t *)buf_reserve(out, WIRE_FRAME_HEAD_SIZE + size);
    if (!at)
        return; /* the peer has not read for a long time; its timeout expires soon */
    memset(at, 0, WIRE_FRAME_HEAD_SIZE + size);
    const struct wire_frame frame = {.type = WIRE_FRAME_FORMING,
                                     .size = (uint32_t)size,
                                     .sequence = message->generation,
                                     .detail = (uint64_t)message->kind};
    wire_frame_encode(&frame, at);
    buf_commit(out, WIRE_FRAME_HEAD_SIZE + size);
    if (!size)
        return;
    const uint64_t numbers[2] = {htole64(message->live), htole64(message->machine)};
    at = mempcpy(at + WIRE_FRAME_HEAD_SIZE, numbers, sizeof(numbers));
    memcpy(at, message->tasks, (size_t)tasks);
}

int membership_message_decode(const struct wire_frame *frame, const uint8_t *bytes, int tasks,
                              struct membership_message *ret, struct err *err)
{
    if (frame->type != WIRE_FRAME_FORMING || frame->detail == 0 ||
        frame->detail >= MEMBERSHIP_KINDS ||
        frame->size != message_size((enum membership_kind)frame->detail, tasks))
        return err_set(err, ERR_BAD_REQUEST,
                       "it sent an unexpected message while the group was forming");
    ret->kind = (enum membership_kind)frame->detail;
    ret->generation = frame->sequence;
    ret->live = ret->machine = 0;
    if (!message_has_tasks(ret->kind))
        return 0;
    uint64_t numbers[2];
    memcpy(numbers, bytes, sizeof(numbers));
    ret->live = le64toh(numbers[0]);
    ret->machine = le64toh(numbers[1]);
    memcpy(ret->tasks, bytes + NUMBERS_SIZE, (size_t)tasks);
    return 0;
}
