/* The handler of WATCH requests, which streams the changes of a resource to the client. dispatch.c
 * calls it. It works on the loop thread and never blocks. */
#ifndef TRAINYARD_ENGINE_WATCH_WATCH_H
#define TRAINYARD_ENGINE_WATCH_WATCH_H

struct api_call;

/* Sends the response, also for an error. Returns at once; the watch continues until its timeout,
 * until the client is gone or reads too slowly, or until the server ends it. */
void watch_handle(struct api_call *call);

#endif
