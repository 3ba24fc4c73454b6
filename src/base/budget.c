/* Implements nested byte budgets; see budget.h. */
#include "base/budget.h"

#include "base/mem.h"

#include <stdlib.h>

void budget_init(struct budget *budget, struct budget *parent, size_t max)
{
    *budget = (struct budget){.parent = parent, .max = max};
    if (parent)
        list_push(&parent->children, &budget->link);
}

void budget_release(struct budget *budget)
{
    if (!list_is_empty(&budget->children))
        mem_panic("budget: released with children");
    budget_give_back(budget, budget->used);
    if (budget->parent)
        list_remove(&budget->link);
    budget->parent = NULL;
}

struct budget *budget_charge(struct budget *budget, size_t size)
{
    for (struct budget *each = budget; each; each = each->parent) {
        if (each->used > each->max || size > each->max - each->used) {
            each->refused++;
            return each;
        }
    }
    budget_force(budget, size);
    return NULL;
}

void budget_force(struct budget *budget, size_t size)
{
    for (; budget; budget = budget->parent) {
        budget->used += size;
        if (budget->used > budget->peak)
            budget->peak = budget->used;
    }
}

void budget_give_back(struct budget *budget, size_t size)
{
    for (; budget; budget = budget->parent) {
        if (size > budget->used)
            mem_panic("budget: %zu bytes were given back, but only %zu were charged", size,
                      budget->used);
        budget->used -= size;
    }
}

struct budget *budget_largest(const struct budget *budget)
{
    struct budget *largest = NULL;
    LIST_EACH (struct budget, each, &budget->children, link)
        if (each->used > (largest ? largest->used : 0))
            largest = each;
    return largest;
}

void budget_group_init(struct budget_group *group, size_t total_max, size_t payer_max)
{
    *group = (struct budget_group){.payer_max = payer_max};
    budget_init(&group->total, NULL, total_max);
    map_init(&group->payers);
}

void budget_group_release(struct budget_group *group)
{
    if (group->payers.count)
        mem_panic("budget: a group was released with %zu payers", group->payers.count);
    budget_release(&group->total);
    map_release(&group->payers);
}

struct budget_payer *budget_payer_ref(struct budget_group *group, const char *name)
{
    struct budget_payer *payer = map_get(&group->payers, name);
    if (!payer) {
        payer = mem_zalloc(sizeof(*payer));
        payer->group = group;
        payer->name = mem_strdup(name);
        budget_init(&payer->budget, &group->total, group->payer_max);
        map_put(&group->payers, name, payer);
    }
    payer->references++;
    return payer;
}

struct budget_payer *budget_payer_unref(struct budget_payer *payer)
{
    if (!payer || --payer->references > 0)
        return NULL;
    map_remove(&payer->group->payers, payer->name);
    budget_release(&payer->budget);
    free(payer->name);
    free(payer);
    return NULL;
}
