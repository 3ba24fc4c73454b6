/* The handlers of requests for the processes and ports of pods: exec, attach, port forwarding and
 * the proxy, which also handles services and nodes. engine/dispatch.c calls them on the loop
 * thread. Each handler sends the response, also for an error. It may return before the response is
 * complete. */
#ifndef TRAINYARD_ENGINE_STREAM_HANDLERS_H
#define TRAINYARD_ENGINE_STREAM_HANDLERS_H

struct api_call;

void exec_handle(struct api_call *call); /* exec and attach */
void port_forward_handle(struct api_call *call);
void http_proxy_handle(struct api_call *call);

#endif
