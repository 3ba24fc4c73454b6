/* Bytes that clients may make a program keep, counted and limited at several levels: a budget has a
 * parent, and every charge counts there too. A charge that one level has no room for changes
 * nothing. The children of a budget are known, so that the largest can be found and ended.
 *
 * A budget_group is the common form: one total, a budget per payer (a user, or the address of a
 * client without a name), and below it budgets of the callers' own, for example one per connection.
 * Pure accounting: nothing here allocates the bytes, or ends the connection that holds them.
 */
#ifndef TRAINYARD_BASE_BUDGET_H
#define TRAINYARD_BASE_BUDGET_H

#include "base/list.h"
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct budget {
    struct budget *parent;     /* NULL: the top */
    struct list_head children; /* in no order */
    struct list_link link;     /* among the parent's children */
    size_t used, max;          /* bytes; max SIZE_MAX: the parents alone limit it */
    size_t peak;               /* the most that `used` has been */
    uint64_t refused;          /* charges that this level had no room for */
};

void budget_init(struct budget *budget, struct budget *parent, size_t max);
/* What is still charged is given back to the parents. It must have no children. Safe on zeroed
 * memory and twice. */
void budget_release(struct budget *budget);

/* Returns NULL, or the level that has no room for it; then nothing is charged. */
struct budget *budget_charge(struct budget *budget, size_t size);
/* Charge whatever the limits say: for bytes that exist already. */
void budget_force(struct budget *budget, size_t size);
void budget_give_back(struct budget *budget, size_t size);

/* The child that has the most charged, or NULL if none has anything. */
struct budget *budget_largest(const struct budget *budget);

struct budget_group {
    struct budget total;
    size_t payer_max;
    struct map payers; /* those with a reference, by name */
};

struct budget_payer {
    struct budget budget;
    struct budget_group *group;
    char *name;
    int references;
};

void budget_group_init(struct budget_group *group, size_t total_max, size_t payer_max);
/* No payer may be left. */
void budget_group_release(struct budget_group *group);

/* The payer of this name, as a new reference; made if there is none. */
struct budget_payer *budget_payer_ref(struct budget_group *group, const char *name);
/* Freed with its last reference, when nothing may be charged any more. NULL-safe; returns NULL. */
struct budget_payer *budget_payer_unref(struct budget_payer *payer);

#endif
