/* Implements ps_server_run(); see ps.h. One thread with one epoll instance serves all workers, so
 * that no variable needs a lock. Workers may disconnect and return. The server ends when all
 * workers have finished, or when `stop` is set. */
#include "comm/ps/server_private.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "comm/cluster/tf_config.h"
#include "comm/transport/handshake_reason.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

enum {
    EVENTS_MAX = 64,
    SESSIONS_MAX = 256,       /* limit of connections, in addition to one per worker */
    HANDSHAKE_MAX_MS = 10000, /* limit for the handshake, counted from accept() */
    ENDING_MAX_MS = 10000,    /* limit for sending the last answers */
    /* Limit of one epoll_wait(), because a signal that arrives just before epoll_wait() does not
     * interrupt it. */
    STOP_POLL_MS = 200,
};

static void server_name_worker(const struct ps_server *server, uint32_t worker,
                               char text[TF_CONFIG_TASK_TEXT_MAX])
{
    tf_config_task_name(&server->member.tasks[worker], text);
}

/* ---- Connections */

static void server_watch_session(struct ps_server *server, struct ps_session *session,
                                 int operation)
{
    struct epoll_event event = {.events = ps_session_events(session), .data.ptr = session};
    if (operation == EPOLL_CTL_MOD && event.events == session->events)
        return;
    session->events = event.events;
    if (epoll_ctl(server->epoll, operation, session->fd, &event) < 0)
        mem_panic("epoll: %s", strerror(errno));
}

/* Closes the connection. server_free_closed() frees the session later, because callers may still
 * use it. */
static void server_close_session(struct ps_server *server, struct ps_session *session)
{
    (void)epoll_ctl(server->epoll, EPOLL_CTL_DEL, session->fd, NULL);
    if (session->state == PS_SESSION_HANDSHAKE)
        handshake_release(&session->handshake);
    else
        close(session->fd);
    session->fd = -1;
    session->state = PS_SESSION_CLOSED;
}

static void server_report_refusal(struct ps_server *server, const struct ps_session *session,
                                  const struct err *why)
{
    /* A peer that tries again has another source port, so only the reason is compared. */
    if (!str_eq(why->message, server->last_refusal))
        ps_member_report(&server->member, "refused a connection from %s: %s", session->from,
                         why->message);
    str_copy(server->last_refusal, sizeof(server->last_refusal), why->message);
}

/* Begins to serve a worker after its handshake. Closes an older session of the same worker, whose
 * process has usually died and been restarted. */
static void server_admit(struct ps_server *server, struct ps_session *session)
{
    uint32_t worker = session->handshake.hello.rank;
    bool again = false;
    for (size_t i = 0; i < server->sessions.count; i++) {
        struct ps_session *other = server->sessions.items[i];
        if ((other->state == PS_SESSION_SERVING || other->state == PS_SESSION_WAITING) &&
            other->handler.worker == worker) {
            server_close_session(server, other);
            again = true;
        }
    }
    char name[TF_CONFIG_TASK_TEXT_MAX];
    server_name_worker(server, worker, name);
    ps_session_begin(session, server->store, worker);
    ps_wait_set_connected(&server->wait, worker);
    ps_member_report(&server->member, "%s joined%s from %s", name,
                     again ? " with a new connection" : "", session->from);
}

/* Returns the verdict on a peer that has proved that it knows the secret. Only workers of the same
 * shape are accepted. */
static enum wire_verdict server_judge(const struct ps_server *server,
                                      const struct wire_hello *hello)
{
    if (hello->rank >= (uint32_t)server->member.workers)
        return WIRE_WRONG_TASK;
    return hello->shape == server->options->shape ? WIRE_ACCEPTED : WIRE_OTHER_SHAPE;
}

static int server_handshake(struct ps_server *server, struct ps_session *session, struct err *err)
{
    struct handshake *handshake = &session->handshake;
    int result = handshake_progress(handshake, err);
    if (result == 0 && handshake->state == HANDSHAKE_PROVEN) {
        enum wire_verdict verdict = server_judge(server, &handshake->hello);
        handshake_decide(handshake, verdict, NULL, 0);
        result = handshake_progress(handshake, err);
        char why[HANDSHAKE_REASON_MAX];
        handshake_reason_other_shape(handshake, why);
        if (result == 0 && verdict != WIRE_ACCEPTED)
            result = err_set(err, ERR_FORBIDDEN, "%s",
                             verdict == WIRE_OTHER_SHAPE ? why : handshake_reason_text(verdict));
    }
    if (result == 0 && handshake->state == HANDSHAKE_DONE)
        server_admit(server, session);
    return result;
}

static void server_report_left(struct ps_server *server, const struct ps_session *session,
                               const struct err *why)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    server_name_worker(server, session->handler.worker, name);
    if (!ps_store_is_finished(server->store, session->handler.worker))
        ps_member_report(&server->member, "%s left: %s; it may join again", name, why->message);
}

static void server_report_finished(struct ps_server *server, const struct ps_session *session)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    server_name_worker(server, session->handler.worker, name);
    ps_member_report(&server->member, "%s has finished (%zu of %d workers)", name,
                     ps_store_finished_count(server->store), server->member.workers);
}

void ps_server_progress(struct ps_server *server, struct ps_session *session)
{
    struct err err = ERR_INIT;
    int result = 0;
    if (session->state == PS_SESSION_HANDSHAKE) {
        if ((result = server_handshake(server, session, &err)) < 0 && err.code != ERR_UNAVAILABLE)
            server_report_refusal(server, session, &err);
    } else {
        bool waited = session->state == PS_SESSION_WAITING;
        if ((result = ps_session_progress(session, &err)) < 0)
            server_report_left(server, session, &err);
        else if (!waited && session->state == PS_SESSION_WAITING) {
            if (session->finishing)
                server_report_finished(server, session);
            ps_server_save_wanted(server); /* resumes the session if no snapshot is needed */
        }
    }
    if (result < 0)
        server_close_session(server, session);
    else if (session->state != PS_SESSION_CLOSED)
        server_watch_session(server, session, EPOLL_CTL_MOD);
}

static void on_session_event(struct ps_server *server, struct ps_session *session, uint32_t events)
{
    if (session->state == PS_SESSION_WAITING && events & (EPOLLHUP | EPOLLERR)) {
        struct err gone = ERR_INIT;
        (err_set)(&gone, ERR_UNAVAILABLE, "%s", socket_reason(ECONNRESET));
        server_report_left(server, session, &gone);
        server_close_session(server, session);
    } else if (session->state != PS_SESSION_CLOSED) {
        ps_server_progress(server, session);
    }
}

static void server_accept_all(struct ps_server *server, int64_t now)
{
    while (server->sessions.count < SESSIONS_MAX + (size_t)server->member.workers) {
        char from[SOCKET_ADDRESS_TEXT_MAX];
        int fd = socket_accept(server->listener, from);
        if (fd < 0)
            return;
        struct ps_session *session = ps_session_new(fd, &server->identity, now + HANDSHAKE_MAX_MS);
        memcpy(session->from, from, sizeof(from));
        vec_push(&server->sessions, session);
        server_watch_session(server, session, EPOLL_CTL_ADD);
    }
}

/* Closes sessions whose handshake takes too long, and frees closed sessions. */
static void server_free_closed(struct ps_server *server, int64_t now)
{
    for (size_t i = 0; i < server->sessions.count;) {
        struct ps_session *session = server->sessions.items[i];
        if (session->state == PS_SESSION_HANDSHAKE && now >= session->deadline)
            server_close_session(server, session);
        if (session->state == PS_SESSION_CLOSED) {
            ps_session_free(session);
            vec_remove(&server->sessions, i);
        } else {
            i++;
        }
    }
}

/* ---- The loop */

static bool server_is_stopped(const struct ps_server *server)
{
    return server->options->stop && *server->options->stop;
}

/* Returns true if all workers have finished and the server has sent all answers, or if the deadline
 * for the last answers has passed and no snapshot is being written. Sets the deadline when it first
 * finds that all workers have finished. */
static bool server_is_finished(struct ps_server *server, int64_t now)
{
    if (ps_store_finished_count(server->store) < (size_t)server->member.workers)
        return false;
    bool busy = false;
    for (size_t i = 0; i < server->sessions.count; i++)
        busy |= server->sessions.items[i]->state == PS_SESSION_WAITING ||
                ps_session_has_output(server->sessions.items[i]);
    if (!server->ending)
        server->ending_deadline = now + ENDING_MAX_MS;
    server->ending = true;
    return !busy || (now >= server->ending_deadline && server->save_fd < 0);
}

/* Starts a snapshot if one is due. Returns the timeout of the next epoll_wait(); -1: no limit. */
static int server_wait_ms(struct ps_server *server, int64_t now)
{
    int64_t until = ps_server_save_if_due(server, now), due = ps_wait_due(&server->wait);
    until = due < until ? due : until;
    for (size_t i = 0; i < server->sessions.count; i++) {
        const struct ps_session *session = server->sessions.items[i];
        if (session->state == PS_SESSION_HANDSHAKE && session->deadline < until)
            until = session->deadline;
    }
    if (server->ending && server->ending_deadline < until)
        until = server->ending_deadline;
    if (server->options->stop && now + STOP_POLL_MS < until)
        until = now + STOP_POLL_MS;
    return until == INT64_MAX ? -1 : until <= now ? 0 : (int)(until - now);
}

static int server_loop(struct ps_server *server, struct err *err)
{
    struct epoll_event events[EVENTS_MAX];
    for (;;) {
        int64_t now = moment_monotonic_ms();
        server_free_closed(server, now);
        if (server_is_stopped(server) || server_is_finished(server, now))
            return 0;
        int result = ps_wait_check(&server->wait, now, err);
        if (result < 0)
            return result;
        int count = epoll_wait(server->epoll, events, EVENTS_MAX, server_wait_ms(server, now));
        for (int i = 0; i < count; i++) {
            void *source = events[i].data.ptr;
            if (source == &server->listener)
                server_accept_all(server, moment_monotonic_ms());
            else if (source == &server->save_fd)
                ps_server_saved(server);
            else
                on_session_event(server, source, events[i].events);
        }
    }
}

/* ---- Setup and end */

static int server_check_options(const struct ps_server_options *options, struct err *err)
{
    const struct ty_task *self = &options->config->tasks[options->config->self];
    if (self->role != TY_ROLE_PS)
        return err_set(err, ERR_INVALID, "%s %d is not a parameter server",
                       ty_role_name(self->role), self->index);
    if (tf_config_workers(options->config) == 0)
        return err_set(err, ERR_INVALID, "the cluster has a ps, but no worker");
    return 0;
}

static int server_init(struct ps_server *server, struct err *err)
{
    const struct ps_server_options *options = server->options;
    int result =
        ps_member_init(&server->member, options->config, options->shape, options->secret, err);
    if (result < 0)
        return result;
    server->member.rendezvous.report = options->report;
    server->member.rendezvous.context = options->context;
    rendezvous_identify(&server->member.rendezvous, &server->identity);
    server->store = ps_store_new(options->table_memory_max);
    if ((result = ps_server_restore(server, err)) < 0)
        return result;
    const struct ty_task *self = &server->member.tasks[server->member.rendezvous.rank];
    result = socket_listen(self->port, strchr(self->host, ':') != NULL,
                           server->member.workers + SESSIONS_MAX, &server->listener, err);
    if (result < 0)
        return result;
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &server->listener};
    if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) < 0)
        return err_set_errno(err, errno, "cannot wait for connections");
    ps_member_report(&server->member, "ps %d of %d serves %d worker%s on port %d", self->index,
                     server->member.servers, server->member.workers,
                     server->member.workers == 1 ? "" : "s", self->port);
    ps_wait_init(&server->wait, &server->member, options->report_ms, options->join_timeout_ms,
                 moment_monotonic_ms());
    for (int worker = 0; worker < server->member.workers; worker++)
        if (ps_store_is_finished(server->store, (uint32_t)worker))
            ps_wait_set_finished(&server->wait, (uint32_t)worker);
    return 0;
}

static void server_release(struct ps_server *server)
{
    for (size_t i = 0; i < server->sessions.count; i++)
        ps_session_free(server->sessions.items[i]);
    vec_release(&server->sessions);
    if (server->listener >= 0)
        close(server->listener);
    if (server->epoll >= 0)
        close(server->epoll);
    ps_wait_release(&server->wait);
    ps_snapshot_free(server->snapshot);
    ps_store_free(server->store);
    ps_member_release(&server->member);
}

int ps_server_run(const struct ps_server_options *options, bool *ret_stopped, struct err *err)
{
    struct ps_server server = {.options = options, .epoll = -1, .listener = -1, .save_fd = -1};
    int result = server_check_options(options, err);
    if (result < 0)
        return result;
    if ((result = server_init(&server, err)) == 0 && (result = server_loop(&server, err)) == 0) {
        bool stopped = server_is_stopped(&server);
        if ((result = ps_server_save_last(&server, err)) == 0)
            *ret_stopped = stopped;
    }
    server_release(&server);
    return result;
}
