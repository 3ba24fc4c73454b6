/* An intrusive doubly linked list: an item embeds a `struct list_link`, and nothing is allocated.
 * To remove an item, the caller needs no pointer to the list.
 *
 * A zeroed `struct list_head` is an empty list. Any other list must not be copied or moved: its
 * first and last items point to the head, and a head that was used and is empty again points to
 * itself. */
#ifndef TRAINYARD_BASE_LIST_H
#define TRAINYARD_BASE_LIST_H

#include "base/mem.h"

#include <stdbool.h>

struct list_link {
    struct list_link *next, *previous; /* both NULL: the item is in no list */
};

struct list_head {
    struct list_link head; /* its `next` is the first item, its `previous` the last */
};

/* Makes the list empty without changing the links of its items. */
static inline void list_init(struct list_head *list)
{
    list->head.next = list->head.previous = &list->head;
}

static inline bool list_is_empty(const struct list_head *list)
{
    return !list->head.next || list->head.next == &list->head;
}

/* Returns whether the item of this link is in a list. The link must have been zeroed before its
 * first use. */
static inline bool list_is_linked(const struct list_link *link)
{
    return link->next;
}

/* Inserts `link` before the link `before`, which may be the head of the list. */
static inline void list_insert(struct list_link *before, struct list_link *link)
{
    link->next = before;
    link->previous = before->previous;
    link->previous->next = link;
    before->previous = link;
}

/* Adds an item at the end of the list. The item must not be in a list. */
static inline void list_append(struct list_head *list, struct list_link *link)
{
    if (!list->head.next)
        list_init(list);
    list_insert(&list->head, link);
}

/* Adds an item at the start of the list. The item must not be in a list. */
static inline void list_push(struct list_head *list, struct list_link *link)
{
    if (!list->head.next)
        list_init(list);
    list_insert(list->head.next, link);
}

/* Removes an item from its list. The item must be in a list. */
static inline void list_remove(struct list_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = link->previous = NULL;
}

/* Moves all items of `from` to the end of `to`, in their order. */
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

/* Returns the link of the first item, or the head if the list is empty. LIST_EACH() starts
 * there. */
static inline struct list_link *list_begin(const struct list_head *list)
{
    return list->head.next ? list->head.next : (struct list_link *)&list->head;
}

/* Returns the first item as a `type *`, or NULL if the list is empty. */
#define LIST_FIRST(list, type, member)                                                             \
    (list_is_empty(list) ? NULL : CONTAINER_OF((list)->head.next, type, member))

/* NOLINTBEGIN(bugprone-macro-parentheses): a declared name cannot be in parentheses */
/* Visits each item as `type *item`. The body may append items, but must not remove `item`. */
#define LIST_EACH(type, item, list, member)                                                        \
    for (type *item = CONTAINER_OF(list_begin(list), type, member);                                \
         &item->member != &(list)->head; item = CONTAINER_OF(item->member.next, type, member))

/* Like LIST_EACH(), but the body may remove or free `item`. It must not remove the next item. */
#define LIST_EACH_SAFE(type, item, list, member)                                                   \
    for (type *item = CONTAINER_OF(list_begin(list), type, member), *item##_next;                  \
         &item->member != &(list)->head &&                                                         \
         (item##_next = CONTAINER_OF(item->member.next, type, member), true);                      \
         item = item##_next)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
