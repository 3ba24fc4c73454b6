/* The requests that stay open for long (watches, logs, exec, port forwarding), so that the server
 * can end them: all when the engine is freed, some when their resource is removed. */
#ifndef TRAINYARD_ENGINE_OPEN_CALLS_H
#define TRAINYARD_ENGINE_OPEN_CALLS_H

struct open_call {
    struct open_call *next, *previous; /* a ring; its head is an open_call as well */
    void (*end)(struct open_call *link);
    const char *storage; /* the resource that the request uses */
};

static inline void open_calls_init(struct open_call *head)
{
    head->next = head->previous = head;
}

static inline void open_call_add(struct open_call *head, struct open_call *link,
                                 const char *storage, void (*end)(struct open_call *link))
{
    link->end = end;
    link->storage = storage;
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

static inline void open_call_remove(struct open_call *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

#endif
