/* A doubly linked list through members of its items: an item embeds a `struct list_link`, and
 * nothing is allocated. An item is removed without knowing its list. A list of items in the order
 * of their deadlines is kept by appending.
 *
 * A zeroed `struct list_head` is an empty list. A list must not be copied or moved while it holds
 * items, because its first and last items point to it. */
#ifndef TRAINYARD_BASE_LIST_H
#define TRAINYARD_BASE_LIST_H

#include "base/mem.h"

#include <stdbool.h>

struct list_link {
    struct list_link *next, *previous; /* both NULL: the item is in no list */
};

struct list_head {
    struct list_link head; /* before the first and behind the last item; belongs to no item */
};

/* Makes the list empty. Items that it holds are forgotten, not removed. */
static inline void list_init(struct list_head *list)
{
    list->head.next = list->head.previous = &list->head;
}

static inline bool list_is_empty(const struct list_head *list)
{
    return !list->head.next || list->head.next == &list->head;
}

/* Whether the item of this link is in a list. The link must have been zeroed at first. */
static inline bool list_is_linked(const struct list_link *link)
{
    return link->next;
}

static inline void list_insert(struct list_link *before, struct list_link *link)
{
    link->next = before;
    link->previous = before->previous;
    link->previous->next = link;
    before->previous = link;
}

/* Adds an item behind all others. It must be in no list. */
static inline void list_append(struct list_head *list, struct list_link *link)
{
    if (!list->head.next)
        list_init(list);
    list_insert(&list->head, link);
}

/* Adds an item before all others. It must be in no list. */
static inline void list_push(struct list_head *list, struct list_link *link)
{
    if (!list->head.next)
        list_init(list);
    list_insert(list->head.next, link);
}

/* Removes an item from its list. It must be in one. */
static inline void list_remove(struct list_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = link->previous = NULL;
}

/* Moves all items of `from` behind those of `to`, in their order. */
static inline void list_append_all(struct list_head *to, struct list_head *from)
{
    if (list_is_empty(from))
        return;
    if (!to->head.next)
        list_init(to);
    from->head.next->previous = to->head.previous;
    to->head.previous->next = from->head.next;
    from->head.previous->next = &to->head;
    to->head.previous = from->head.previous;
    list_init(from);
}

/* The link of the first item, or the head's if there is none: where LIST_EACH() begins. */
static inline struct list_link *list_begin(const struct list_head *list)
{
    return list->head.next ? list->head.next : (struct list_link *)&list->head;
}

/* The first item as a `type *`, or NULL if the list is empty. */
#define LIST_FIRST(list, type, member)                                                             \
    (list_is_empty(list) ? NULL : CONTAINER_OF((list)->head.next, type, member))

/* Visits each item as `type *item`. The body may append items, but must not remove `item`. */
#define LIST_EACH(type, item, list, member)                                                        \
    for (type *item = CONTAINER_OF(list_begin(list), type, member);                                \
         &item->member != &(list)->head; item = CONTAINER_OF(item->member.next, type, member))

/* Like LIST_EACH(), but the body may remove or free `item`. It must not remove the item behind. */
#define LIST_EACH_SAFE(type, item, list, member)                                                   \
    for (type *item = CONTAINER_OF(list_begin(list), type, member), *item##_next;                  \
         &item->member != &(list)->head &&                                                         \
         (item##_next = CONTAINER_OF(item->member.next, type, member), true);                      \
         item = item##_next)

#endif
