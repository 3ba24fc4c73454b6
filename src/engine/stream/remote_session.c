/* Implements the part of a session that SPDY and WebSocket share; see remote_session.h. */
#include "engine/stream/remote_session.h"

#include "base/mem.h"
#include "engine/internal.h"

enum { TERMINAL_SIZE_MAX = 1024 }; /* the most bytes of one message with a terminal size */

static void on_remote_session_end(struct open_call *link)
{
    struct remote_session *session = CONTAINER_OF(link, struct remote_session, link);
    session->close(session);
}

void remote_session_init(struct remote_session *session, struct engine *engine,
                         const struct remote_request *request,
                         const struct remote_transport *transport,
                         void (*close)(struct remote_session *session))
{
    session->close = close;
    buf_init(&session->size, TERMINAL_SIZE_MAX);
    open_call_add(engine_open_calls(engine), &session->link, "pods", on_remote_session_end);
    session->command = remote_command_new(engine, request, transport, session);
}

void remote_session_detach(struct remote_session *session)
{
    if (session->detached)
        return;
    session->detached = true;
    open_call_remove(&session->link);
    if (session->command)
        remote_command_leave(TAKE(session->command));
}

void remote_session_release(struct remote_session *session)
{
    remote_session_detach(session);
    buf_release(&session->size);
}

void remote_session_drained(struct remote_session *session)
{
    if (session->command)
        remote_command_drained(session->command);
}

void remote_session_resize(struct remote_session *session)
{
    if (!session->size.overflowed)
        remote_command_resize(session->command, session->size.data, session->size.size);
    buf_clear(&session->size);
}
