/* Implements the relay between two sockets; see service/relay.h. */
#include "node/service/relay.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

void relay_init(struct relay *relay, int a, int b)
{
    *relay = (struct relay){.fds = {a, b}};
}

void relay_release(struct relay *relay)
{
    free(relay->flows[0].kept);
    free(relay->flows[1].kept);
    relay->flows[0].kept = relay->flows[1].kept = NULL;
}

static bool is_again(int errnum)
{
    return errnum == EAGAIN || errnum == EWOULDBLOCK || errnum == EINTR;
}

/* Returns how many bytes the socket has accepted, or -1 if the connection has failed. */
static ssize_t relay_send_bytes(int fd, const char *data, size_t size)
{
    size_t accepted = 0;
    while (accepted < size) {
        ssize_t sent = send(fd, data + accepted, size - accepted, MSG_NOSIGNAL);
        if (sent < 0)
            return is_again(errno) ? (ssize_t)accepted : -1;
        accepted += (size_t)sent;
    }
    return (ssize_t)accepted;
}

/* Sends the kept bytes. Returns false if the connection `to` has failed. */
static bool relay_send_kept(struct relay_flow *flow, int to)
{
    ssize_t accepted = relay_send_bytes(to, flow->kept + flow->kept_from, flow->kept_size);
    if (accepted < 0)
        return false;
    flow->kept_from += (size_t)accepted;
    flow->kept_size -= (size_t)accepted;
    if (flow->kept_size == 0) {
        free(flow->kept);
        flow->kept = NULL;
    }
    return true;
}

static void relay_keep_bytes(struct relay_flow *flow, const char *data, size_t size)
{
    flow->kept = memcpy(mem_alloc(size), data, size);
    flow->kept_from = 0;
    flow->kept_size = size;
}

/* Copies bytes in one direction. Returns false if a connection has failed. */
static bool move_flow(struct relay_flow *flow, int from, int to, char *piece)
{
    if (flow->kept && !relay_send_kept(flow, to))
        return false;
    for (int i = 0; i < RELAY_PIECES_PER_CALL && !flow->kept && !flow->ended; i++) {
        ssize_t got = recv(from, piece, RELAY_PIECE, 0);
        if (got < 0) {
            if (is_again(errno))
                break;
            return false;
        }
        if (got == 0) {
            flow->ended = true;
            break;
        }
        ssize_t accepted = relay_send_bytes(to, piece, (size_t)got);
        if (accepted < 0)
            return false;
        if (accepted < got)
            relay_keep_bytes(flow, piece + accepted, (size_t)(got - accepted));
    }
    if (flow->ended && !flow->kept && !flow->shut) {
        flow->shut = true;
        shutdown(to, SHUT_WR);
    }
    return true;
}

enum relay_result relay_move(struct relay *relay, char *piece)
{
    for (int side = 0; side < 2; side++)
        if (!move_flow(&relay->flows[side], relay->fds[side], relay->fds[!side], piece))
            return RELAY_BROKEN;
    return relay->flows[0].shut && relay->flows[1].shut ? RELAY_ENDED : RELAY_GOES_ON;
}

uint32_t relay_events(const struct relay *relay, int side)
{
    const struct relay_flow *out = &relay->flows[side], *in = &relay->flows[!side];
    return (!out->ended && !out->kept ? EPOLLIN : 0U) | (in->kept ? EPOLLOUT : 0U);
}

bool relay_is_paused(const struct relay *relay, int side)
{
    return !(relay_events(relay, side) & EPOLLIN);
}
