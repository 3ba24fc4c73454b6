/* Requests on a line in memory; see api_line.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_line.h"

#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <string.h>

static void send_request(struct loop *loop, struct memory_stream *peer, const char *request,
                         int size)
{
    buf_clear(&peer->out);
    peer->taken = 0;
    memory_stream_send(peer, request, (size_t)size);
    sim_loop_run_for(loop, API_LINE_RUN_MS);
}

int api_line_ask(struct loop *loop, struct memory_stream *peer, const char *method,
                 const char *path, const char *headers)
{
    char request[2048];
    int size = snprintf(request, sizeof(request),
                        "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
                        "Content-Length: 0\r\n%s\r\n",
                        method, path, headers);
    send_request(loop, peer, request, size);
    int status = 0;
    assert_int_equal(sscanf(peer->out.data, "HTTP/1.1 %d", &status), 1);
    return status;
}

void api_line_put(struct loop *loop, struct memory_stream *peer, const char *method,
                  const char *path, const char *body)
{
    char request[2048];
    int size =
        snprintf(request, sizeof(request),
                 "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
                 "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 method, path,
                 strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json",
                 strlen(body), body);
    send_request(loop, peer, request, size);
    assert_memory_equal(peer->out.data, "HTTP/1.1 20", 11);
}
