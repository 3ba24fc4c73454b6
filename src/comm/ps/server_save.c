/* Decides when the variables of a server are written to disk, and answers the workers that wait for
 * this; see server_private.h. A session in PS_SESSION_WAITING is "covered" if the snapshot that is
 * being written has all changes of its worker. */
#include "base/mem.h"
#include "base/moment.h"
#include "comm/ps/server_private.h"

#include <sys/epoll.h>

enum { SNAPSHOT_EVERY_MS = 60 * 1000 };

static int64_t save_interval(const struct ps_server *server)
{
    int64_t every = server->options->snapshot_every_ms;
    return every ? every : SNAPSHOT_EVERY_MS;
}

int ps_server_restore(struct ps_server *server, struct err *err)
{
    if (!server->options->directory)
        return 0;
    const struct ps_snapshot_owner owner = {
        .shape = server->options->shape,
        .server = (uint32_t)(server->member.rendezvous.rank - server->member.workers),
        .servers = (uint32_t)server->member.servers};
    bool found;
    struct ps_snapshot_info info;
    char note[PS_SNAPSHOT_NOTE_MAX];
    int result = ps_snapshot_new(server->options->directory, &owner, &server->snapshot, err);
    if (result < 0 || (result = ps_snapshot_restore(server->snapshot, server->store, &found, &info,
                                                    note, err)) < 0)
        return result;
    if (note[0])
        ps_member_report(&server->member, "%s", note);
    server->next_save_ms = moment_monotonic_ms() + save_interval(server);
    server->saved = ps_store_changes(server->store);
    if (!found) {
        ps_member_report(&server->member, "starting without a snapshot: there is no '%s'",
                         ps_snapshot_path(server->snapshot));
        return 0;
    }
    char when[MOMENT_TEXT_MAX];
    moment_format(info.saved_ms, when);
    ps_member_report(
        &server->member, "restored %llu rows and %llu dense values, saved at %s, from '%s%s'",
        (unsigned long long)info.rows, (unsigned long long)ps_store_view(server->store).dense.count,
        when, ps_snapshot_path(server->snapshot), info.previous ? ".previous" : "");
    /* If all workers have finished, the snapshot is from the end of a complete run. A new run
     * begins, in which no worker has finished yet. */
    if (ps_store_finished_count(server->store) >= (size_t)server->member.workers)
        for (int worker = 0; worker < server->member.workers; worker++)
            ps_store_set_finished(server->store, (uint32_t)worker, false);
    return 0;
}

/* Answers the covered sessions when their snapshot has ended. `failure` is the error if the
 * snapshot was not written, otherwise NULL. A worker that finishes gets a success in both cases. */
static void save_answer_covered(struct ps_server *server, const struct err *failure)
{
    for (size_t i = 0; i < server->sessions.count; i++) {
        struct ps_session *session = server->sessions.items[i];
        if (session->state != PS_SESSION_WAITING || !session->covered)
            continue;
        ps_session_resume(session, session->finishing ? NULL : failure);
        ps_server_progress(server, session);
    }
}

/* Marks all waiting sessions as covered. */
static void save_cover_waiting(struct ps_server *server)
{
    for (size_t i = 0; i < server->sessions.count; i++) {
        struct ps_session *session = server->sessions.items[i];
        if (session->state == PS_SESSION_WAITING)
            session->covered = true;
    }
}

/* Starts a snapshot that covers all waiting sessions. If the start fails, reports the error and
 * answers these sessions at once. */
static void save_start(struct ps_server *server)
{
    struct err err = ERR_INIT;
    save_cover_waiting(server);
    int64_t before_us = moment_monotonic_ns() / 1000;
    server->saving = ps_store_changes(server->store);
    server->save_started_ms = before_us / 1000;
    if (ps_snapshot_start(server->snapshot, server->store, &server->save_fd, &err) == 0) {
        server->save_pause_us = moment_monotonic_ns() / 1000 - before_us;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &server->save_fd};
        if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->save_fd, &event) == 0)
            return;
        server->save_fd = -1;
        (void)ps_snapshot_finish(server->snapshot, &err);
    }
    server->next_save_ms = server->save_started_ms + save_interval(server);
    ps_member_report(&server->member, "%s", err.message);
    save_answer_covered(server, &err);
}

void ps_server_save_wanted(struct ps_server *server)
{
    if (server->save_fd >= 0)
        return; /* the current snapshot may lack these changes, so another snapshot follows */
    if (server->snapshot && server->saved != ps_store_changes(server->store)) {
        save_start(server);
        return;
    }
    save_cover_waiting(server);
    save_answer_covered(server, NULL);
}

void ps_server_saved(struct ps_server *server)
{
    struct err err = ERR_INIT;
    server->save_fd = -1; /* ps_snapshot_finish() closes it, which removes it from epoll */
    int64_t now = moment_monotonic_ms();
    server->next_save_ms = now + save_interval(server);
    if (ps_snapshot_finish(server->snapshot, &err) < 0) {
        ps_member_report(&server->member, "%s; changes since the last snapshot are not saved",
                         err.message);
        save_answer_covered(server, &err);
    } else {
        server->saved = server->saving;
        ps_member_report(&server->member, "saved '%s' in %.1f s, with a pause of %.1f ms",
                         ps_snapshot_path(server->snapshot),
                         (double)(now - server->save_started_ms) / 1000,
                         (double)server->save_pause_us / 1000);
        save_answer_covered(server, NULL);
    }
    for (size_t i = 0; i < server->sessions.count; i++)
        if (server->sessions.items[i]->state == PS_SESSION_WAITING) {
            ps_server_save_wanted(server);
            return;
        }
}

int64_t ps_server_save_if_due(struct ps_server *server, int64_t now)
{
    if (!server->snapshot || server->save_fd >= 0 ||
        server->saved == ps_store_changes(server->store))
        return INT64_MAX;
    if (now >= server->next_save_ms)
        save_start(server);
    return server->save_fd >= 0 ? INT64_MAX : server->next_save_ms;
}

int ps_server_save_last(struct ps_server *server, struct err *err)
{
    if (!server->snapshot)
        return 0;
    if (server->save_fd >= 0) {
        server->save_fd = -1;
        if (ps_snapshot_finish(server->snapshot, NULL) == 0)
            server->saved = server->saving;
    }
    if (server->saved == ps_store_changes(server->store))
        return 0;
    int result = ps_snapshot_write(server->snapshot, server->store, err);
    if (result == 0)
        ps_member_report(&server->member, "saved '%s'", ps_snapshot_path(server->snapshot));
    return result;
}
