/* The handler of WATCH requests. */
#ifndef TRAINYARD_ENGINE_WATCH_WATCH_H
#define TRAINYARD_ENGINE_WATCH_WATCH_H

struct api_call;

void watch_handle(struct api_call *call);

#endif
