/* Rings: lists that know their end, through a member of their own. The head is a link that belongs
 * to nobody; a ring in the order of deadlines is kept by adding at the end. */
#ifndef TRAINYARD_BASE_RING_H
#define TRAINYARD_BASE_RING_H

#include <stdbool.h>

struct ring {
    struct ring *next, *previous;
};

static inline void ring_init(struct ring *head)
{
    head->next = head->previous = head;
}

static inline bool ring_is_empty(const struct ring *head)
{
    return head->next == head;
}

/* `link` must be in a ring; it may be put into one again afterwards. */
static inline void ring_remove(struct ring *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
}

/* Behind all others. */
static inline void ring_add(struct ring *head, struct ring *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

#endif
