/* Fuzzes the messages of the handshake and the frames of a group. An accepted message must be
 * written as the same bytes. */
#include "base/mem.h"
#include "comm/group/membership_message.h"
#include "comm/transport/shape_text.h"
#include "comm/transport/wire.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks a message between tasks that form a group. */
static void check_forming(const struct wire_frame *frame, const uint8_t *data, size_t size)
{
    enum { TASKS = 6 };
    uint8_t tasks[TASKS];
    struct membership_message message = {.tasks = tasks};
    struct err err = ERR_INIT;
    const uint8_t *bytes = data + WIRE_FRAME_HEAD_SIZE;
    if (membership_message_decode(frame, bytes, TASKS, &message, &err) < 0)
        return;
    struct buf again;
    buf_init(&again, WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX);
    membership_message_encode(&message, TASKS, &again);
    if (again.size != size || memcmp(again.data, data, size) != 0)
        mem_panic("fuzz: a message of a forming changes");
    buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct wire_hello hello, again;
    if (wire_hello_decode(data, size, &hello, &err) == 0 && hello.version == WIRE_VERSION) {
        uint8_t first[WIRE_HELLO_SIZE], second[WIRE_HELLO_SIZE];
        wire_hello_encode(&hello, first);
        if (wire_hello_decode(first, sizeof(first), &again, &err) < 0)
            mem_panic("fuzz: a greeting is not read back");
        wire_hello_encode(&again, second);
        if (memcmp(first, second, sizeof(first)) != 0)
            mem_panic("fuzz: a greeting changes");
    }
    struct wire_welcome welcome;
    (void)wire_welcome_decode(data, size, &welcome, &err);
    uint8_t mac[SECRET_MAC_SIZE];
    (void)wire_proof_decode(data, size, mac, &err);
    char *shape_text = NULL;
    if (wire_shape_text_decode(data, size, &shape_text, &err) == 0) {
        char text[256];
        (void)shape_text_difference("--a 1\n--b 2\n", shape_text, text, sizeof(text));
    }
    free(shape_text);
    struct wire_address addresses[64];
    enum wire_verdict verdict;
    size_t count;
    if (wire_verdict_decode(data, size, ARRAY_SIZE(addresses), &verdict, addresses, &count, &err) ==
        0) {
        uint8_t bytes[WIRE_VERDICT_SIZE + ARRAY_SIZE(addresses) * WIRE_ADDRESS_SIZE];
        wire_verdict_encode(verdict, addresses, count, bytes);
        if (memcmp(bytes + WIRE_HEAD_SIZE, data + WIRE_HEAD_SIZE, size - WIRE_HEAD_SIZE) != 0)
            mem_panic("fuzz: a verdict changes");
    }
    struct wire_frame frame;
    if (size >= WIRE_FRAME_HEAD_SIZE && wire_frame_decode(data, &frame, &err) == 0) {
        uint8_t bytes[WIRE_FRAME_HEAD_SIZE];
        wire_frame_encode(&frame, bytes);
        if (memcmp(bytes, data, sizeof(bytes)) != 0)
            mem_panic("fuzz: a frame changes");
        if (size == WIRE_FRAME_HEAD_SIZE + (size_t)frame.size)
            check_forming(&frame, data, size);
    }
    return 0;
}
