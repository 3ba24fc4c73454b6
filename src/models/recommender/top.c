/* Implements the search for the best items for a user; see top.h. */
#include "models/recommender/top.h"

#include "base/mem.h"

/* A rating of an item. Sorting brings all ratings of an item together, with the rating by the
 * wanted user first. */
struct item_rating {
    int64_t item;
    bool by_user;
};

static int by_item(const void *a, const void *b)
{
    const struct item_rating *x = a, *y = b;
    return x->item != y->item ? (x->item > y->item) - (x->item < y->item)
                              : (int)y->by_user - (int)x->by_user;
}

static int by_score(const void *a, const void *b)
{
    const struct recommender_candidate *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->item > y->item) - (x->item < y->item);
}

int recommender_top_find(struct recommender_model *model, const struct ratings *ratings,
                         int64_t user, size_t ratings_min, size_t limit,
                         struct recommender_top *ret, struct err *err)
{
    size_t total = ratings->count;
    _cleanup_free_ struct item_rating *all = mem_calloc(total + 1, sizeof(*all));
    _cleanup_free_ int64_t *items = mem_calloc(total + 1, sizeof(*items));
    _cleanup_free_ float *scores = mem_calloc(total + 1, sizeof(*scores));
    _cleanup_(recommender_top_release) struct recommender_top top = {
        .items = mem_calloc(total + 1, sizeof(*top.items))};
    for (size_t i = 0; i < total; i++) {
        all[i] = (struct item_rating){ratings->items[i].item, ratings->items[i].user == user};
        top.rated += all[i].by_user;
    }
    if (top.rated == 0)
        return err_set(err, ERR_NOT_FOUND,
                       "user %lld has no ratings in this data, so nothing can be recommended",
                       (long long)user);
    qsort(all, total, sizeof(*all), by_item);
    for (size_t i = 0, j; i < total; i = j) {
        for (j = i; j < total && all[j].item == all[i].item;)
            j++;
        if (all[i].by_user || j - i < ratings_min)
            continue;
        items[top.count] = all[i].item;
        top.items[top.count++] = (struct recommender_candidate){all[i].item, 0, j - i};
    }
    recommender_model_score(model, user, items, top.count, scores);
    for (size_t i = 0; i < top.count; i++)
        top.items[i].score = scores[i];
    qsort(top.items, top.count, sizeof(*top.items), by_score);
    top.count = top.count < limit ? top.count : limit;
    *ret = TAKE(top);
    return 0;
}

void recommender_top_release(struct recommender_top *top)
{
    free(top->items);
    *top = (struct recommender_top){0};
}
