/* Nested byte budgets: they count and limit the bytes that a program keeps for its clients. A
 * budget has a parent, and every charge also counts there. If one level has no room, the charge is
 * refused, and no level counts the bytes. A budget lists its children, so that the caller can find
 * the child that uses the most bytes.
 *
 * A budget_group is the common form: one total budget, and below it one budget per payer. A payer
 * is a user, or the address of an unauthenticated client. The caller adds its own budgets below a
 * payer, for example one per connection. This file only counts. It allocates none of the counted
 * bytes and closes no connection. */
#ifndef TRAINYARD_BASE_BUDGET_H
#define TRAINYARD_BASE_BUDGET_H

#include "base/list.h"
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct budget {
    struct budget *parent;     /* NULL: this is the top level */
    struct list_head children; /* in no order */
    struct list_link link;     /* the link in the parent's `children` */
    size_t used, max; /* bytes; with a max of SIZE_MAX only the parents limit this budget */
    size_t peak;      /* the largest value that `used` has had */
    uint64_t refused; /* number of charges refused because this level had no room */
};

void budget_init(struct budget *budget, struct budget *parent, size_t max);
/* Uncharges all bytes of this budget, here and in all its ancestors, and removes the budget from
 * its parent. The budget must have no children. May be called on zeroed memory and twice. */
void budget_release(struct budget *budget);

/* Charges `size` bytes to this budget and all its ancestors. Returns NULL on success. If a level
 * has no room, charges nothing and returns that level. */
struct budget *budget_charge(struct budget *budget, size_t size);
/* Charges `size` bytes even beyond the limits. Used for bytes that are allocated already. */
void budget_force(struct budget *budget, size_t size);
/* Uncharges `size` bytes of this budget and of all its ancestors. Aborts if a level has fewer
 * charged bytes. */
void budget_give_back(struct budget *budget, size_t size);

/* Returns the child with the most charged bytes, or NULL if no child has charged bytes. */
struct budget *budget_largest(const struct budget *budget);

struct budget_group {
    struct budget total;
    size_t payer_max;  /* maximum number of bytes per payer */
    struct map payers; /* struct budget_payer by name; only payers with at least one reference */
};

struct budget_payer {
    struct budget budget;
    struct budget_group *group;
    char *name;     /* the key in group->payers */
    int references; /* at least 1 */
};

void budget_group_init(struct budget_group *group, size_t total_max, size_t payer_max);
/* The group must have no payers. */
void budget_group_release(struct budget_group *group);

/* Returns a new reference to the payer of this name. Creates the payer if it does not exist. */
struct budget_payer *budget_payer_ref(struct budget_group *group, const char *name);
/* Drops a reference. When the last reference is dropped, the payer's charged bytes are given back
 * and the payer is freed. Its budget must then have no children. NULL-safe; returns NULL. */
struct budget_payer *budget_payer_unref(struct budget_payer *payer);

#endif
