/* Describes the reasons of a rejection as text; see handshake_reason.h. */
#include "comm/transport/handshake_reason.h"

#include "base/str.h"
#include "comm/transport/shape_text.h"

#include <stdio.h>

const char *handshake_reason_text(enum wire_verdict verdict)
{
    static const char *const TEXTS[WIRE_VERDICTS] = {
        [WIRE_ACCEPTED] = "it was accepted",
        [WIRE_OTHER_VERSION] = "it speaks another version of the protocol: run the same version of "
                               "the program in all tasks",
        [WIRE_OTHER_JOB] = "it belongs to another job: its cluster differs from this task's",
        [WIRE_OTHER_SHAPE] = "its model has another shape: start all tasks with the same model and "
                             "flags",
        [WIRE_OTHER_CHANNELS] = "it uses another number of channels: start all tasks with the same "
                                "flags",
        [WIRE_WRONG_SECRET] = "it does not know this task's job secret: give all tasks the same "
                              "TRAINYARD_JOB_SECRET",
        [WIRE_WRONG_TASK] = "the connection was meant for another task: two addresses lead to the "
                            "same process",
        [WIRE_OTHER_ENCRYPTION] =
            "only one of the two tasks encrypts its connections: give all tasks "
            "--encrypt (TRAINER_ENCRYPT), or none",
    };
    return (unsigned)verdict < WIRE_VERDICTS ? TEXTS[verdict] : "unknown reason";
}

void handshake_reason_other_shape(const struct handshake *handshake,
                                  char text[HANDSHAKE_REASON_MAX])
{
    char difference[HANDSHAKE_REASON_MAX - 64];
    const char *own = handshake->identity->shape_text;
    if (own && handshake->peer_shape_text &&
        shape_text_difference(own, handshake->peer_shape_text, difference, sizeof(difference)))
        snprintf(text, HANDSHAKE_REASON_MAX,
                 "its options differ: %s; start all tasks with the same options", difference);
    else
        str_copy(text, HANDSHAKE_REASON_MAX, handshake_reason_text(WIRE_OTHER_SHAPE));
}
