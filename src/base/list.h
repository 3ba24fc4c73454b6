/* Lists of structs through members of their own, `struct x *next, **link;`: `next` is the one
 * behind or NULL, `link` is what points here, the head or the `next` of the one before. So one is
 * taken out without knowing the list it stands in, and nothing is allocated. A head is a `struct x
 * *`, NULL when empty. */
#ifndef TRAINYARD_BASE_LIST_H
#define TRAINYARD_BASE_LIST_H

/* Put `item` before all others of the list at `head`, a `struct x **`. */
#define list_push(head, item)                                                                      \
    do {                                                                                           \
        (item)->next = *(head);                                                                    \
        (item)->link = (head);                                                                     \
        if ((item)->next)                                                                          \
            (item)->next->link = &(item)->next;                                                    \
        *(head) = (item);                                                                          \
    } while (0)

/* `item` must be in a list; its members are left as they are, and mean nothing any more. */
#define list_remove(item)                                                                          \
    do {                                                                                           \
        *(item)->link = (item)->next;                                                              \
        if ((item)->next)                                                                          \
            (item)->next->link = (item)->link;                                                     \
    } while (0)

#endif
