/* The list of requests that last longer than one turn of the loop and use the engine: watches,
 * waiting logs, exec, port forwarding, proxies, long lists, large bodies. The server ends all of
 * them when the engine is freed, and those of one resource when the resource is removed. */
#ifndef TRAINYARD_ENGINE_API_OPEN_CALLS_H
#define TRAINYARD_ENGINE_API_OPEN_CALLS_H

#include "base/list.h"

struct open_call {
    struct list_link link; /* in the engine's list of open calls */
    void (*end)(struct open_call *call);
    const char *storage; /* the resource of the request: kube_kind.storage */
};

static inline void open_call_add(struct list_head *calls, struct open_call *call,
                                 const char *storage, void (*end)(struct open_call *call))
{
    call->end = end;
    call->storage = storage;
    list_append(calls, &call->link);
}

static inline void open_call_remove(struct open_call *call)
{
    list_remove(&call->link);
}

#endif
