/* kubectl's line to the API as a stream in memory: requests go in as bytes, answers are read from
 * it. For tests of what becomes of a connection after its request (exec, port-forward). */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_API_LINE_H
#define TRAINYARD_TESTS_UNIT_ENGINE_API_LINE_H

#include "loop/loop.h"
#include "memory_stream.h"

enum { API_LINE_RUN_MS = 100 }; /* of virtual time: whatever follows at once has happened then */

/* One request without a body; its status. */
int api_line_ask(struct loop *loop, struct memory_stream *peer, const char *method,
                 const char *path, const char *headers);
/* One with a body, JSON or a merge patch, which must succeed. */
void api_line_put(struct loop *loop, struct memory_stream *peer, const char *method,
                  const char *path, const char *body);

#endif
