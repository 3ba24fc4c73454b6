/* The list of requests that last longer than one turn of the loop and use the engine meanwhile:
 * watches, logs of containers that do not run yet, exec, port forwarding, proxies, long lists,
 * large bodies. engine.c ends all of them when the engine is freed, and those of one resource when
 * the resource is no longer served. A write that waits for the disk is not in the list, because the
 * store ends it. A log that is being sent and a request for metrics are not in the list, because
 * the nodes' backend ends them. */
#ifndef TRAINYARD_ENGINE_API_OPEN_CALLS_H
#define TRAINYARD_ENGINE_API_OPEN_CALLS_H

#include "base/list.h"

struct open_call {
    struct list_link link; /* in the engine's list of open calls */
    /* Removes `call` from the list and ends the request, at once or, in large.c, when the pool
     * thread is done. Must not remove other calls. */
    void (*end)(struct open_call *call);
    const char *storage; /* the resource whose end also ends the request: kube_kind.storage */
};

/* Adds the call of a request for the resource `storage`, a string that must outlive the call. */
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
