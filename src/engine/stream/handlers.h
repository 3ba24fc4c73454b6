/* The handlers of requests that upgrade the connection to another protocol or forward it to a pod.
 * Each handler sends the response, also for errors. */
#ifndef TRAINYARD_ENGINE_STREAM_HANDLERS_H
#define TRAINYARD_ENGINE_STREAM_HANDLERS_H

struct api_call;

void exec_handle(struct api_call *call); /* exec and attach */
void port_forward_handle(struct api_call *call);
void http_proxy_handle(struct api_call *call);

#endif
