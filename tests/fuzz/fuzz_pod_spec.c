/* Fuzzes the files of a pod's spec and state. Both must read back the same after being written. */
#include "base/mem.h"
#include "node/pod/record/spec.h"
#include "node/pod/record/state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_spec(const char *text, size_t size)
{
    struct arena *arena = arena_new();
    struct pod_spec spec;
    struct err err = ERR_INIT;
    struct buf first, second;
    buf_init(&first, POD_SPEC_MAX);
    buf_init(&second, POD_SPEC_MAX);
    char *copy = memcpy(arena_zalloc(arena, size + 1), text, size);
    if (pod_spec_parse(arena, copy, size, &spec, &err) == 0) {
        pod_spec_write(&spec, &first);
        char *again = memcpy(arena_zalloc(arena, first.size + 1), first.data, first.size);
        if (pod_spec_parse(arena, again, first.size, &spec, &err) < 0)
            mem_panic("a spec was written but is not read: %s", err.message);
        pod_spec_write(&spec, &second);
        if (strcmp(first.data, second.data) != 0)
            mem_panic("a spec is read back as something else");
    } else if (!err.message[0]) {
        mem_panic("refused without a word");
    }
    buf_release(&first);
    buf_release(&second);
    arena_free(arena);
}

static void check_state(const char *text, size_t size)
{
    struct pod_state state = {0}, reread = {0};
    struct err err = ERR_INIT;
    struct buf first, second;
    char *copy = memcpy(mem_zalloc(size + 1), text, size);
    buf_init(&first, POD_STATE_MAX);
    buf_init(&second, POD_STATE_MAX);
    if (pod_state_parse(copy, size, &state, &err) == 0) {
        pod_state_write(&state, &first);
        char *again = memcpy(mem_zalloc(first.size + 1), first.data, first.size);
        if (!first.overflowed && pod_state_parse(again, first.size, &reread, &err) < 0)
            mem_panic("a state was written but is not read: %s", err.message);
        pod_state_write(&reread, &second);
        if (!first.overflowed && strcmp(first.data, second.data) != 0)
            mem_panic("a state is read back as something else");
        free(again);
        pod_state_release(&reread);
        pod_state_release(&state);
    }
    buf_release(&first);
    buf_release(&second);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= 64 * 1024) {
        check_spec((const char *)data, size);
        check_state((const char *)data, size);
    }
    return 0;
}
