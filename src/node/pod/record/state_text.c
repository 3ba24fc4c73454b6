/* Reads and writes the text form of a pod's state; see pod/record/state.h. Every field is one row
 * of a table. The keys KEY_… open the part of an event, a container or an end. */
#include "node/pod/record/state.h"

#include "base/mem.h"
#include "base/str.h"
#include "node/pod/record/record.h"
#include "node/pod/record/record_rows.h"

#include <limits.h>

/* ---- The tables ---- */

static const char *const PHASES[] = {
    [CONTAINER_WAITING] = "waiting",
    [CONTAINER_RUNNING] = "running",
    [CONTAINER_TERMINATED] = "terminated",
};

#define POD_ROW_IF_SET(member, name)                                                               \
    {                                                                                              \
        .key = name, .type = RECORD_CHARS, .offset = offsetof(struct pod_state, member),           \
        .size = sizeof(((struct pod_state *)NULL)->member), .skips_empty = true                    \
    }

static const struct record_row POD_ROWS[] = {
    RECORD_ROW_BOOL(struct pod_state, finished, "pod-finished"),
    POD_ROW_IF_SET(reason, "pod-reason"),
    POD_ROW_IF_SET(message, "pod-message"),
};
static const struct record_table POD_TABLE = RECORD_TABLE(POD_ROWS);

/* The keys say "news" because the supervisors of running pods may be of an older version. */
static const struct record_row EVENT_ROWS[] = {
    RECORD_ROW_BOOL(struct pod_event, is_warning, "news-warning"),
    RECORD_ROW_CHARS(struct pod_event, container, "news-container"),
    RECORD_ROW_CHARS(struct pod_event, reason, "news-reason"),
    RECORD_ROW_CHARS(struct pod_event, message, "news-message"),
};
static const struct record_table EVENT_TABLE = RECORD_TABLE(EVENT_ROWS);

/* Reads the phase. Sets `started` and `ready` too, because a supervisor of a version without probes
 * writes neither is-started nor is-ready. If these records exist, they come after the phase and
 * replace the values. */
static int state_read_phase(struct arena *arena, void *object, const char *value, struct err *err)
{
    struct container_state *container = object;
    for (size_t i = 0; i < ARRAY_SIZE(PHASES); i++) {
        if (!str_eq(value, PHASES[i]))
            continue;
        container->phase = (enum container_phase)i;
        container->started = container->ready = container->phase == CONTAINER_RUNNING;
        return 0;
    }
    return err_set(err, ERR_BAD_REQUEST, "unknown phase '%s'", value);
}

static void state_write_phase(const void *object, const char *key, struct buf *buf)
{
    record_write(buf, key, PHASES[((const struct container_state *)object)->phase]);
}

static const struct record_row CONTAINER_ROWS[] = {
    RECORD_ROW_CHARS(struct container_state, image, "image"),
    RECORD_ROW_CHARS(struct container_state, image_id, "image-id"),
    {.key = "phase", .type = RECORD_CUSTOM, .read = state_read_phase, .write = state_write_phase},
    RECORD_ROW_CHARS(struct container_state, reason, "reason"),
    RECORD_ROW_CHARS(struct container_state, message, "message"),
    RECORD_ROW_INT64(struct container_state, started_ms, "started", 0, INT64_MAX),
    RECORD_ROW_INT64(struct container_state, next_start_ms, "next-start", 0, INT64_MAX),
    RECORD_ROW_INT64(struct container_state, pid, "pid", 0, INT_MAX),
    RECORD_ROW_INT64(struct container_state, restarts, "restarts", 0, INT_MAX),
    RECORD_ROW_INT(struct container_state, level, "level", 0, INT_MAX),
    RECORD_ROW_BOOL(struct container_state, started, "is-started"),
    RECORD_ROW_BOOL(struct container_state, ready, "is-ready"),
};
static const struct record_table CONTAINER_TABLE = RECORD_TABLE(CONTAINER_ROWS);

static const struct record_row END_ROWS[] = {
    RECORD_ROW_INT(struct container_end, exit_code, "exit", 0, INT_MAX),
    RECORD_ROW_INT(struct container_end, signal, "signal", 0, INT_MAX),
    RECORD_ROW_INT64(struct container_end, started_ms, "started", 0, INT64_MAX),
    RECORD_ROW_INT64(struct container_end, finished_ms, "finished", 0, INT64_MAX),
    RECORD_ROW_CHARS(struct container_end, reason, "reason"),
    RECORD_ROW_CHARS(struct container_end, message, "message"),
};
static const struct record_table END_TABLE = RECORD_TABLE(END_ROWS);

/* Keys that open a part of the state: the records that follow belong to it. */
#define KEY_EVENT     "news"
#define KEY_CONTAINER "container"
#define KEY_END       "end"
/* The values of KEY_END: how this run ended, and how the previous run ended. */
#define END_NOW  "now"
#define END_LAST "last"

/* ---- Writing ---- */

static void state_write_events(const struct pod_state *state, struct buf *buf)
{
    for (int64_t number = state->last_event - POD_EVENTS_MAX + 1; number <= state->last_event;
         number++) {
        const struct pod_event *event = pod_state_event(state, number);
        if (!event)
            continue;
        record_write_int(buf, KEY_EVENT, number);
        record_rows_write(&EVENT_TABLE, event, buf);
    }
}

static void state_write_end(const struct container_end *end, const char *which, struct buf *buf)
{
    if (!end->known)
        return;
    record_write(buf, KEY_END, which);
    record_rows_write(&END_TABLE, end, buf);
}

void pod_state_write(const struct pod_state *state, struct buf *buf)
{
    record_rows_write(&POD_TABLE, state, buf);
    state_write_events(state, buf);
    for (size_t i = 0; i < state->count; i++) {
        const struct container_state *container = &state->containers[i];
        record_write(buf, KEY_CONTAINER, container->name);
        record_rows_write(&CONTAINER_TABLE, container, buf);
        state_write_end(&container->end, END_NOW, buf);
        state_write_end(&container->last, END_LAST, buf);
    }
}

/* ---- Reading ---- */

/* The objects that the next records belong to. A pointer is NULL before the first part of its kind.
 * `end` becomes NULL again when the part of another container begins. */
struct state_reader {
    struct pod_state *state;
    struct pod_event *event;
    struct container_state *container;
    struct container_end *end;
};

/* Returns 0 if the key opens a part, 1 if it does not, or a negative code. */
static int state_open_part(struct state_reader *reader, const char *key, const char *value,
                           struct err *err)
{
    if (str_eq(key, KEY_EVENT)) {
        int64_t number;
        int result = str_to_int64(value, 1, INT64_MAX / 2, &number, err);
        reader->event = result < 0 ? NULL : pod_state_add_event(reader->state, number);
        return result;
    }
    if (str_eq(key, KEY_CONTAINER)) {
        if (reader->state->count == POD_CONTAINERS_MAX)
            return err_set(err, ERR_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX);
        reader->container = pod_state_add(reader->state, value);
        reader->end = NULL;
        return 0;
    }
    if (reader->container && str_eq(key, KEY_END)) {
        reader->end = str_eq(value, END_LAST) ? &reader->container->last : &reader->container->end;
        reader->end->known = true;
        return 0;
    }
    return 1;
}

static int state_read_record(struct state_reader *reader, const char *key, const char *value,
                             struct err *err)
{
    int result = state_open_part(reader, key, value, err);
    if (result == 1)
        result = record_rows_read(&POD_TABLE, NULL, reader->state, key, value, err);
    if (result == 1)
        result = record_rows_read(&EVENT_TABLE, NULL, reader->event, key, value, err);
    if (result == 1 && reader->end) /* an end and its container have keys in common */
        result = record_rows_read(&END_TABLE, NULL, reader->end, key, value, err);
    else if (result == 1)
        result = record_rows_read(&CONTAINER_TABLE, NULL, reader->container, key, value, err);
    if (result == 1)
        return err_set(err, ERR_BAD_REQUEST,
                       reader->container ? "unknown key '%s'" : "'%s' before any container", key);
    return result;
}

int pod_state_parse(char *text, size_t size, struct pod_state *ret, struct err *err)
{
    _cleanup_pod_state_ struct pod_state state = {0};
    struct state_reader reader = {.state = &state};
    struct record_reader records;
    record_reader_init(&records, text, size);
    const char *key;
    char *value;
    int result;
    while ((result = record_next(&records, &key, &value, err)) > 0)
        if (state_read_record(&reader, key, value, err) < 0)
            return err_wrap(err, "line %u", records.line);
    if (result == 0)
        *ret = TAKE(state);
    return result;
}
