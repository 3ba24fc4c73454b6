/* The life of a transport, the beginning of calls, and the exchange of small data; see
 * transport_tcp.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"
#include "comm/transport/tcp/lane.h"

#include <stdarg.h>
#include <string.h>

void transport_tcp_set_timeout(struct transport_tcp *tcp, int64_t timeout_ms)
{
    tcp->options.timeout_ms = timeout_ms;
}

void transport_tcp_set_peer_timeout(struct transport_tcp *tcp, int64_t timeout_ms)
{
    tcp->options.peer_timeout_ms = timeout_ms;
}

enum lobby_fate transport_tcp_fate(struct transport_tcp *tcp, int rank)
{
    struct peer *peer = &tcp->peers[rank];
    if (peer->control.fd >= 0)
        transport_tcp_read(tcp, peer);
    if (peer->left || peer->aborted)
        return LOBBY_LEFT;
    if (peer->silent)
        return LOBBY_SILENT;
    return peer->control.fd < 0 && rank != tcp->options.rank ? LOBBY_LOST : LOBBY_OPEN;
}

bool transport_tcp_expelled(const struct transport_tcp *tcp)
{
    return tcp->expelled || tcp->away;
}

int transport_tcp_rank(const struct transport_tcp *tcp)
{
    return tcp->options.rank;
}

int transport_tcp_size(const struct transport_tcp *tcp)
{
    return tcp->options.size;
}

bool transport_tcp_has_pairs(const struct transport_tcp *tcp)
{
    return tcp->links.pairs != NULL;
}

int transport_tcp_left(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + tcp->options.size - 1) % tcp->options.size;
}

int transport_tcp_right(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + 1) % tcp->options.size;
}

struct pollfd *transport_tcp_left_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size;
}

struct pollfd *transport_tcp_right_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size + tcp->options.channels;
}

struct transport_tcp *transport_tcp_new(const struct transport_tcp_options *options,
                                        struct rendezvous_links *links)
{
    struct transport_tcp *tcp = mem_zalloc(sizeof(*tcp));
    size_t size = (size_t)options->size, channels = (size_t)options->channels;
    tcp->options = *options;
    tcp->options.tasks = NULL;
    tcp->links = *links;
    *links = (struct rendezvous_links){0};
    tcp->peers = mem_calloc(size, sizeof(*tcp->peers));
    for (size_t i = 0; i < size; i++) {
        struct peer *peer = &tcp->peers[i];
        tf_config_task_describe(&options->tasks[i], peer->name);
        tf_config_task_name(&options->tasks[i], peer->task);
        peer->control = connection_take(&tcp->links.control[i]);
        if (peer->control.fd >= 0)
            socket_limit_silence(peer->control.fd);
        buf_init(&peer->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
        if (tcp->links.pairs && tcp->links.pairs[i].fd >= 0)
            socket_do_not_pace_local(tcp->links.pairs[i].fd);
    }
    for (size_t i = 0; size > 1 && i < channels; i++) {
        socket_do_not_pace_local(tcp->links.left[i].fd);
        socket_do_not_pace_local(tcp->links.right[i].fd);
    }
    tcp->polls = mem_calloc(size + 2 * channels, sizeof(*tcp->polls));
    tcp->scratch = mem_calloc(channels, sizeof(*tcp->scratch));
    tcp->send_scratch = mem_calloc(channels, sizeof(*tcp->send_scratch));
    for (size_t i = 0; i < channels; i++)
        tcp->scratch[i] = size > 1 ? mem_alloc(TRANSPORT_TCP_SCRATCH) : NULL;
    return tcp;
}

struct transport_tcp *transport_tcp_free(struct transport_tcp *tcp)
{
    if (!tcp)
        return NULL;
    if (!tcp->broken.code)
        transport_tcp_send_all(tcp, WIRE_FRAME_BYE, tcp->sequence, 0, NULL, 0);
    for (int i = 0; i < tcp->options.size; i++) {
        struct peer *peer = &tcp->peers[i];
        connection_close(&peer->control);
        buf_release(&peer->out);
        for (int slot = 0; slot < PENDING_SLOTS; slot++)
            free(peer->pending[slot].bytes);
    }
    for (int i = 0; i < tcp->options.channels; i++) {
        free(tcp->scratch[i]);
        free(tcp->send_scratch[i]);
    }
    free(tcp->scratch);
    free(tcp->send_scratch);
    free(tcp->peers);
    free(tcp->polls);
    rendezvous_links_release(&tcp->links, tcp->options.size, tcp->options.channels);
    free(tcp);
    return NULL;
}

struct transport_mark transport_tcp_mark(const struct transport_tcp *tcp)
{
    return (struct transport_mark){
        .sequence = tcp->sequence, .call = (uint64_t)tcp->call, .size = tcp->call_size};
}

int transport_tcp_differs(struct transport_tcp *tcp, int rank, const struct transport_mark *mark,
                          struct err *err)
{
    /* It may have given up on the group before this task came, and told so. */
    int result = transport_tcp_watch(tcp, rank, err);
    if (result < 0)
        return result;
    return transport_tcp_mismatch(tcp, rank, mark->sequence, mark->call, mark->size, err);
}

void transport_tcp_say(const struct transport_tcp *tcp, const char *format, ...)
{
    if (!tcp->options.report)
        return;
    _cleanup_buf_ struct buf line;
    buf_init(&line, 4096);
    va_list args;
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    tcp->options.report(tcp->options.context, line.data);
}

int transport_tcp_begin(struct transport_tcp *tcp, enum transport_call call, size_t size,
                        struct err *err)
{
    if (tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    tcp->sequence++;
    tcp->call = call;
    tcp->call_size = size;
    tcp->exchanging = false;
    tcp->away = false; /* all were in the last call after it */
    tcp->idle_since_ms = tcp->asked_ms = 0;
    tcp->streams = 0;
    for (int i = 0; i < tcp->options.size; i++)
        if (tcp->peers[i].left && tcp->peers[i].completed < tcp->sequence)
            transport_tcp_break(tcp, ERR_UNAVAILABLE, "%s has left the group", tcp->peers[i].name);
    return tcp->broken.code ? transport_tcp_broken(tcp, err) : 0;
}

int transport_tcp_exchange(struct transport_tcp *tcp, const void *data, size_t size, void *ret_all,
                           struct err *err)
{
    if (size > WIRE_FRAME_MAX)
        mem_panic("transport: %zu bytes do not fit a frame", size);
    tcp->exchanging = true;
    transport_tcp_send_all(tcp, WIRE_FRAME_DATA, tcp->sequence, (uint64_t)tcp->call, data, size);
    struct pollfd *data_polls = transport_tcp_left_polls(tcp);
    for (int i = 0; i < 2 * tcp->options.channels; i++)
        data_polls[i].fd = -1;
    for (int rank = 0; rank < tcp->options.size; rank++) {
        char *place = (char *)ret_all + (size_t)rank * size;
        struct peer *peer = &tcp->peers[rank];
        if (rank == tcp->options.rank) {
            if (size)
                memcpy(place, data, size);
            continue;
        }
        struct pending *found;
        tcp->awaited = rank;
        while (!(found = transport_tcp_find_pending(tcp, peer))) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
        transport_tcp_came(tcp, rank);
        if (found->call != (uint64_t)tcp->call || found->size != size)
            return transport_tcp_mismatch(tcp, rank, found->sequence, found->call, found->size,
                                          err);
        memcpy(place, found->bytes, size);
        found->used = false;
        transport_tcp_moved(tcp);
    }
    /* Every other member must have our contribution before this call counts as completed. */
    for (int rank = 0; rank < tcp->options.size; rank++)
        while (tcp->peers[rank].out.size && tcp->peers[rank].control.fd >= 0) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
    return 0;
}
