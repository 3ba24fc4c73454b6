/* Computes the sizes of a deployment's sets during a rollout and when the deployment is scaled, as
 * in Kubernetes. Pure. */
#include "engine/controllers/deployment/internal.h"

#include <stdlib.h>
#include <string.h>

static int64_t size_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t size_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t sum_wanted(const struct deployment_pass *pass)
{
    int64_t sum = 0;
    for (size_t i = 0; i < pass->count; i++)
        sum += pass->sets[i].wanted;
    return sum;
}

static bool any_changed(const struct deployment_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (pass->sets[i].wanted != pass->sets[i].size)
            return true;
    return false;
}

int64_t deployment_size_new(const struct deployment_pass *pass, int64_t size)
{
    if (!pass->rolling)
        return pass->replicas;
    int64_t room = pass->replicas + pass->max_surge - sum_wanted(pass);
    return room <= 0 ? size : size + size_min(room, pass->replicas - size);
}

/* ---- A rolling update ------------------------------------------------------------------------ */

static bool grow_new(struct deployment_pass *pass)
{
    struct deployment_set *set = pass->new_set;
    if (set->size > pass->replicas)
        set->wanted = pass->replicas;
    else if (set->size < pass->replicas)
        set->wanted = deployment_size_new(pass, set->size);
    return set->wanted != set->size;
}

/* Shrinks the old sets by their pods that are not available, in total by at most `most`. Returns by
 * how many pods. Must run before available pods are removed; otherwise a rollout that replaces a
 * broken version would never end. */
static int64_t drop_unhealthy(struct deployment_pass *pass, int64_t most)
{
    int64_t dropped = 0;
    for (size_t i = 0; i < pass->count && dropped < most; i++) {
        struct deployment_set *set = &pass->sets[i];
        if (set->is_new || set->wanted <= set->available)
            continue;
        int64_t count = size_min(most - dropped, set->wanted - set->available);
        set->wanted -= count;
        dropped += count;
    }
    return dropped;
}

/* Shrinks the old sets as long as `least_available` pods of all sets stay available. The status of
 * a set that was just made smaller may still show more pods. So a set counts with at most its new
 * size. */
static void shrink_old(struct deployment_pass *pass, int64_t least_available)
{
    int64_t available = 0;
    for (size_t i = 0; i < pass->count; i++)
        available += size_min(pass->sets[i].available, pass->sets[i].wanted);
    int64_t most = available - least_available;
    for (size_t i = 0; i < pass->count && most > 0; i++) {
        struct deployment_set *set = &pass->sets[i];
        if (set->is_new || set->wanted == 0)
            continue;
        int64_t count = size_min(most, set->wanted);
        set->wanted -= count;
        most -= count;
    }
}

bool deployment_size_rolling(struct deployment_pass *pass)
{
    if (grow_new(pass))
        return true;
    int64_t least_available = pass->replicas - pass->max_unavailable;
    int64_t new_unavailable = pass->new_set->size - pass->new_set->available;
    int64_t most = sum_wanted(pass) - least_available - new_unavailable;
    if (most > 0) {
        drop_unhealthy(pass, most);
        shrink_old(pass, least_available);
    }
    return any_changed(pass);
}

/* ---- Recreate -------------------------------------------------------------------------------- */

bool deployment_size_recreate(struct deployment_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (!pass->sets[i].is_new)
            pass->sets[i].wanted = 0;
    return any_changed(pass);
}

/* ---- Another number of replicas -------------------------------------------------------------- */

/* Sorts larger sets first. Sets of the same size are sorted by age: the newest first here, the
 * oldest first in compare_shrinking(). */
static int compare_growing(const void *a, const void *b)
{
    const struct deployment_set *x = *(struct deployment_set *const *)a,
                                *y = *(struct deployment_set *const *)b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->created_ms != y->created_ms)
        return x->created_ms > y->created_ms ? -1 : 1;
    return strcmp(y->name, x->name);
}

static int compare_shrinking(const void *a, const void *b)
{
    const struct deployment_set *x = *(struct deployment_set *const *)a,
                                *y = *(struct deployment_set *const *)b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Rounds half up. Both numbers must not be negative. */
static int64_t divide_rounded(int64_t a, int64_t b)
{
    return (2 * a + b) / (2 * b);
}

/* Returns by how many pods the set changes if all sets keep their proportions. */
static int64_t size_fraction(const struct deployment_pass *pass, const struct deployment_set *set)
{
    if (pass->replicas == 0)
        return -set->size;
    int64_t before = set->max_before;
    if (before <= 0)
        before = json_get_int(json_get(pass->deployment, "status"), "replicas", 0);
    if (before <= 0)
        return 0;
    return divide_rounded(set->size * (pass->replicas + pass->max_surge), before) - set->size;
}

/* Distributes the change of the replicas over the sets. The largest set gets the rest. */
static void scale_proportionally(struct deployment_pass *pass, struct deployment_set **active,
                                 size_t count)
{
    int64_t sum = 0, done = 0;
    for (size_t i = 0; i < count; i++)
        sum += active[i]->size;
    int64_t change = (pass->replicas > 0 ? pass->replicas + pass->max_surge : 0) - sum;
    if (change == 0)
        return;
    qsort(active, count, sizeof(*active), change > 0 ? compare_growing : compare_shrinking);
    for (size_t i = 0; i < count && done != change; i++) {
        int64_t share = size_fraction(pass, active[i]);
        share = change > 0 ? size_min(share, change - done) : size_max(share, change - done);
        active[i]->wanted += share;
        done += share;
    }
    active[0]->wanted = size_max(active[0]->wanted + change - done, 0);
}

/* Returns whether the new set alone has all replicas of the deployment, and all are available. */
static bool is_saturated(const struct deployment_pass *pass)
{
    const struct deployment_set *set = pass->new_set;
    return set && set->size == pass->replicas && set->desired_before == pass->replicas &&
           set->available == pass->replicas;
}

bool deployment_size_scale(struct deployment_pass *pass)
{
    struct deployment_set **active =
        ARENA_ARRAY(pass->arena, struct deployment_set *, pass->count + 1);
    struct deployment_set *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (pass->sets[i].size > 0)
            active[count++] = &pass->sets[i];
    if (count == 1)
        only = active[0];
    else if (count == 0 && pass->count > 0)
        only = pass->new_set ? pass->new_set : &pass->sets[pass->count - 1];
    if (only)
        only->wanted = pass->replicas;
    else if (count > 1 && is_saturated(pass))
        return deployment_size_recreate(pass);
    else if (count > 1 && pass->rolling)
        scale_proportionally(pass, active, count);
    return any_changed(pass);
}
