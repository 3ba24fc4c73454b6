/* Nested byte budgets: they count and limit the bytes that clients make a program keep. A budget
 * has a parent, and every charge also counts there. If one level has no room, the charge changes
 * nothing at any level. A budget knows its children, so that the caller can find the largest and
 * end it.
 *
 * A budget_group is the common form: one total, one budget per payer (a user, or the address of a
 * client without a name), and below it budgets of the caller, for example one per connection. This
 * file only counts: it allocates no bytes, and it ends no connection. */
#ifndef TRAINYARD_BASE_BUDGET_H
#define TRAINYARD_BASE_BUDGET_H

#include "base/list.h"
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct budget {
    struct budget *parent;     /* NULL: this is the top level */
    struct list_head children; /* in no order */
    struct list_link link;     /* among the parent's children */
    size_t used, max; /* bytes; with a max of SIZE_MAX only the parents limit this budget */
    size_t peak;      /* the largest value that `used` has had */
    uint64_t refused; /* number of charges refused because this level had no room */
};

void budget_init(struct budget *budget, struct budget *parent, size_t max);
/* Gives all charged bytes back to the parents. The budget must have no children. May be called on
 * zeroed memory and twice. */
void budget_release(struct budget *budget);

/* Charges `size` bytes at this level and all above. Returns NULL, or the first level without room;
 * then nothing is charged. */
struct budget *budget_charge(struct budget *budget, size_t size);
/* Charges `size` bytes even beyond the limits: for bytes that exist already. */
void budget_force(struct budget *budget, size_t size);
void budget_give_back(struct budget *budget, size_t size);

/* The child with the most bytes charged, or NULL if no child has any. */
struct budget *budget_largest(const struct budget *budget);

struct budget_group {
    struct budget total;
    size_t payer_max;
    struct map payers; /* struct budget_payer by name; only payers that have a reference */
};

struct budget_payer {
    struct budget budget;
    struct budget_group *group;
    char *name;
    int references;
};

void budget_group_init(struct budget_group *group, size_t total_max, size_t payer_max);
/* The group must have no payers. */
void budget_group_release(struct budget_group *group);

/* Returns a new reference to the payer of this name, which is created if it does not exist. */
struct budget_payer *budget_payer_ref(struct budget_group *group, const char *name);
/* Drops a reference. The last one frees the payer; nothing may be charged to it then. NULL-safe;
 * returns NULL. */
struct budget_payer *budget_payer_unref(struct budget_payer *payer);

#endif
