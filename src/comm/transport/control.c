/* Opens and closes the control connections of a group, begins calls, and exchanges small data; see
 * control.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"

#include <stdarg.h>
#include <string.h>

void control_set_timeout(struct control *control, int64_t timeout_ms)
{
    control->options.timeout_ms = timeout_ms;
}

void control_set_peer_timeout(struct control *control, int64_t timeout_ms)
{
    control->options.peer_timeout_ms = timeout_ms;
}

enum peer_outcome control_peer_outcome(struct control *control, int rank)
{
    struct control_peer *peer = &control->peers[rank];
    if (peer->connection.fd >= 0)
        control_read(control, peer);
    if (peer->left || peer->aborted)
        return PEER_LEFT;
    if (peer->silent)
        return PEER_SILENT;
    return peer->connection.fd < 0 && rank != control->options.rank ? PEER_LOST : PEER_CONNECTED;
}

bool control_is_expelled(const struct control *control)
{
    return control->expelled || control->was_stopped;
}

int control_rank(const struct control *control)
{
    return control->options.rank;
}

int control_size(const struct control *control)
{
    return control->options.size;
}

const char *control_peer_name(const struct control *control, int rank)
{
    return control->peers[rank].name;
}

struct control *control_new(const struct control_options *options,
                            struct connection_set *connections)
{
    struct control *control = mem_zalloc(sizeof(*control));
    size_t size = (size_t)options->size;
    control->options = *options;
    control->options.tasks = NULL;
    control->peers = mem_calloc(size, sizeof(*control->peers));
    for (size_t i = 0; i < size; i++) {
        struct control_peer *peer = &control->peers[i];
        tf_config_task_describe(&options->tasks[i], peer->name);
        tf_config_task_name(&options->tasks[i], peer->task);
        peer->connection = connection_take(&connections->control[i]);
        if (peer->connection.fd >= 0)
            socket_limit_silence(peer->connection.fd);
        buf_init(&peer->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
    }
    control->polls = mem_calloc(size, sizeof(*control->polls));
    return control;
}

struct control *control_free(struct control *control)
{
    if (!control)
        return NULL;
    if (!control->broken.code)
        control_send_all(control, WIRE_FRAME_BYE, control->sequence, 0, NULL, 0);
    for (int i = 0; i < control->options.size; i++) {
        struct control_peer *peer = &control->peers[i];
        connection_close(&peer->connection);
        buf_release(&peer->out);
        for (int slot = 0; slot < CONTROL_CONTRIBUTIONS; slot++)
            free(peer->contributions[slot].bytes);
    }
    free(control->peers);
    free(control->polls);
    free(control);
    return NULL;
}

struct pollfd *control_reserve_polls(struct control *control, size_t count)
{
    size_t size = (size_t)control->options.size;
    control->polls = mem_realloc(control->polls, (size + count) * sizeof(*control->polls));
    for (size_t i = 0; i < count; i++)
        control->polls[size + i] = (struct pollfd){.fd = -1};
    return control->polls + size;
}

void control_expect(struct control *control, int rank)
{
    control->expected = rank;
}

struct control_call_note control_current_call(const struct control *control)
{
    return (struct control_call_note){
        .sequence = control->sequence, .call = (uint64_t)control->call, .size = control->call_size};
}

int control_refuse_call(struct control *control, int rank, const struct control_call_note *note,
                        struct err *err)
{
    /* The member may have left the broken group before this call, and sent the reason. */
    int result = control_watch(control, rank, err);
    if (result < 0)
        return result;
    return control_mismatch(control, rank, note, err);
}

int control_check_contributions(struct control *control, struct err *err)
{
    for (int rank = 0; rank < control->options.size; rank++) {
        const struct control_contribution *found =
            control_find_contribution(control, &control->peers[rank]);
        if (found)
            return control_mismatch(control, rank, &found->note, err);
    }
    return 0;
}

void control_report(const struct control *control, const char *format, ...)
{
    if (!control->options.report)
        return;
    _cleanup_buf_ struct buf line;
    buf_init(&line, 4096);
    va_list args;
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    control->options.report(control->options.context, line.data);
}

int control_begin_call(struct control *control, enum control_call call, size_t size,
                       struct err *err)
{
    if (control->broken.code)
        return control_broken(control, err);
    control->sequence++;
    control->call = call;
    control->call_size = size;
    control->exchanging = false;
    /* The previous call has succeeded, so no member has continued without this process. */
    control->was_stopped = false;
    control->idle_since_ms = control->first_ping_ms = 0;
    control->arrivals = 0;
    for (int i = 0; i < control->options.size; i++)
        if (control->peers[i].left && control->peers[i].completed < control->sequence)
            control_break(control, ERR_UNAVAILABLE, "%s has left the group",
                          control->peers[i].name);
    return control->broken.code ? control_broken(control, err) : 0;
}

int control_exchange(struct control *control, const void *data, size_t size, void *ret_all,
                     struct err *err)
{
    if (size > WIRE_FRAME_MAX)
        mem_panic("transport: %zu bytes do not fit a frame", size);
    control->exchanging = true;
    control_send_all(control, WIRE_FRAME_DATA, control->sequence, (uint64_t)control->call, data,
                     size);
    for (int rank = 0; rank < control->options.size; rank++) {
        char *place = (char *)ret_all + (size_t)rank * size;
        struct control_peer *peer = &control->peers[rank];
        if (rank == control->options.rank) {
            if (size)
                memcpy(place, data, size);
            continue;
        }
        struct control_contribution *found;
        control->expected = rank;
        while (!(found = control_find_contribution(control, peer))) {
            int result = control_wait(control, 0, err);
            if (result < 0)
                return result;
        }
        control_peer_arrived(control, rank);
        if (found->note.call != (uint64_t)control->call || found->note.size != size)
            return control_mismatch(control, rank, &found->note, err);
        memcpy(place, found->bytes, size);
        found->used = false;
        control_progress(control);
    }
    /* The call is complete only when this member's contribution has been sent to every other
     * member. */
    for (int rank = 0; rank < control->options.size; rank++)
        while (control->peers[rank].out.size && control->peers[rank].connection.fd >= 0) {
            int result = control_wait(control, 0, err);
            if (result < 0)
                return result;
        }
    return 0;
}

int control_barrier(struct control *control, struct err *err)
{
    char nothing;
    return control_exchange(control, NULL, 0, &nothing, err);
}
