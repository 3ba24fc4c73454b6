/* The handlers of requests whose connection changes its protocol, or is passed on to a pod. Each
 * responds, also with errors. */
#ifndef TRAINYARD_ENGINE_STREAM_HANDLERS_H
#define TRAINYARD_ENGINE_STREAM_HANDLERS_H

struct api_call;

void exec_handle(struct api_call *call); /* exec and attach */
void port_forward_handle(struct api_call *call);
void http_proxy_handle(struct api_call *call);

#endif
