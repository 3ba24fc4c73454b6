/* Fuzzes the messages to and from a pod's supervisor. A request or an answer that is read must read
 * back the same after being written. */
#include "base/mem.h"
#include "node/pod/record/request.h"

#include <stdint.h>
#include <string.h>

static char *copy_of(struct arena *arena, const void *data, size_t size)
{
    return memcpy(arena_zalloc(arena, size + 1), data, size);
}

static void check_request(struct arena *arena, const uint8_t *data, size_t size)
{
    struct pod_request request;
    struct err err = ERR_INIT;
    struct buf first, second;
    buf_init(&first, 2 * POD_REQUEST_MAX);
    buf_init(&second, 2 * POD_REQUEST_MAX);
    if (pod_request_parse(arena, copy_of(arena, data, size), size, &request, &err) == 0 &&
        pod_request_write(&request, &first, &err) == 0) {
        char *again = copy_of(arena, first.data, first.size);
        if (pod_request_parse(arena, again, first.size, &request, &err) < 0)
            mem_panic("a request was written but is not read: %s", err.message);
        pod_request_write(&request, &second, NULL);
        if (strcmp(first.data, second.data) != 0)
            mem_panic("a request is read back as something else");
    }
    buf_release(&first);
    buf_release(&second);
}

static void check_answer(struct arena *arena, const uint8_t *data, size_t size)
{
    struct pod_answer answer;
    struct err err = ERR_INIT;
    struct buf first, second;
    buf_init(&first, POD_ANSWER_MAX);
    buf_init(&second, POD_ANSWER_MAX);
    if (pod_answer_parse(copy_of(arena, data, size), size, &answer, &err) == 0) {
        pod_answer_write(&answer, &first);
        if (first.overflowed)
            mem_panic("an answer is longer than answers are");
        char *again = copy_of(arena, first.data, first.size);
        if (pod_answer_parse(again, first.size, &answer, &err) < 0)
            mem_panic("an answer was written but is not read: %s", err.message);
        pod_answer_write(&answer, &second);
        if (strcmp(first.data, second.data) != 0)
            mem_panic("an answer is read back as something else");
    }
    buf_release(&first);
    buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > POD_REQUEST_MAX)
        return 0;
    struct arena *arena = arena_new();
    check_request(arena, data, size);
    check_answer(arena, data, size);
    arena_free(arena);
    return 0;
}
