/* Changes the state of a pod in memory, and stores and loads its file; see pod/record/state.h.
 * pod/record/state_text.c has the text form. */
#include "node/pod/record/state.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pod_state_release(struct pod_state *state)
{
    for (size_t i = 0; i < ARRAY_SIZE(state->events); i++)
        free(state->events[i]);
    free(state->containers);
    *state = (struct pod_state){0};
}

struct container_state *pod_state_add(struct pod_state *state, const char *name)
{
    state->containers =
        mem_realloc(state->containers, (state->count + 1) * sizeof(*state->containers));
    struct container_state *container = &state->containers[state->count++];
    memset(container, 0, sizeof(*container));
    str_copy(container->name, sizeof(container->name), name);
    return container;
}

void pod_state_inherit(struct pod_state *state, struct pod_state *earlier)
{
    state->finished = earlier->finished;
    state->last_event = earlier->last_event;
    memcpy(state->reason, earlier->reason, sizeof(state->reason));
    memcpy(state->message, earlier->message, sizeof(state->message));
    for (size_t i = 0; i < ARRAY_SIZE(state->events); i++)
        state->events[i] = TAKE(earlier->events[i]);
}

struct container_state *pod_state_find(const struct pod_state *state, const char *name)
{
    for (size_t i = 0; i < state->count; i++)
        if (str_eq(state->containers[i].name, name))
            return &state->containers[i];
    return NULL;
}

struct pod_event *pod_state_add_event(struct pod_state *state, int64_t number)
{
    struct pod_event **slot = &state->events[number % POD_EVENTS_MAX];
    free(*slot);
    *slot = mem_zalloc(sizeof(**slot));
    (*slot)->number = state->last_event = number;
    return *slot;
}

void pod_state_record_event(struct pod_state *state, const char *container, bool is_warning,
                            const char *reason, const char *format, ...)
{
    struct pod_event *event = pod_state_add_event(state, state->last_event + 1);
    event->is_warning = is_warning;
    str_copy(event->container, sizeof(event->container), container ? container : "");
    str_copy(event->reason, sizeof(event->reason), reason);
    va_list args;
    va_start(args, format);
    vsnprintf(event->message, sizeof(event->message), format, args);
    va_end(args);
}

const struct pod_event *pod_state_event(const struct pod_state *state, int64_t number)
{
    const struct pod_event *event = number > 0 ? state->events[number % POD_EVENTS_MAX] : NULL;
    return event && event->number == number ? event : NULL;
}

int pod_state_load(const char *directory, struct pod_state *ret, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/state", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    if (pod_state_parse(text.data, text.size, ret, err) < 0)
        return err_wrap(err, "'%s'", path);
    return 0;
}

static int state_write_file(const char *directory, const struct pod_state *state,
                            int (*write)(const char *path, const void *data, size_t size,
                                         mode_t mode, struct err *err),
                            struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/state", directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_STATE_MAX);
    pod_state_write(state, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE, "'%s' would be too large", path);
    return write(path, text.data, text.size, 0600, err);
}

int pod_state_store(const char *directory, const struct pod_state *state, struct err *err)
{
    return state_write_file(directory, state, file_write_atomic, err);
}

int pod_state_show(const char *directory, const struct pod_state *state, struct err *err)
{
    return state_write_file(directory, state, file_replace, err);
}

char *pod_log_path(const char *directory, const char *container, int64_t run)
{
    return mem_printf("%s/logs/%s.%lld.log", directory, container, (long long)run);
}

char *pod_message_path(const char *directory, const char *container)
{
    return mem_printf("%s/messages/%s", directory, container);
}
