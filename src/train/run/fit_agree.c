/* What workers must have in common before they go on together; see fit_agree.h. */
#include "train/run/fit_agree.h"

#include "base/mem.h"
#include "train/run/fit_save.h"
#include "train/run/model.h"

#include <string.h>

enum { HALF = 20 }; /* bits of a step in one float, which holds 24 exactly */

/* What a worker tells of itself. */
enum { TELLS_SETTLED, TELLS_FAILED, TELLS_HIGH, TELLS_LOW, TELLS };

struct standing {
    bool somebody_settled, somebody_failed;
    bool alike; /* all are settled, at the same step */
    int holder; /* whose state counts */
    uint64_t farthest;
};

static int compare_standing(struct fit_loop *loop, bool failed, uint64_t step, struct standing *ret,
                            struct err *err)
{
    struct reducer *reducer = loop->reducer;
    const float own[TELLS] = {loop->settled, failed, (float)(step >> HALF),
                              (float)(step & ((1 << HALF) - 1))};
    _cleanup_free_ float *all = mem_calloc((size_t)reducer->size * TELLS, sizeof(*all));
    int result = reducer->allgather(reducer, own, TELLS, all, err);
    if (result < 0)
        return result;
    struct standing standing = {.alike = true};
    for (int rank = 0; rank < reducer->size; rank++)
        standing.somebody_settled |= all[(size_t)rank * TELLS + TELLS_SETTLED] > 0;
    bool found = false;
    for (int rank = 0; rank < reducer->size; rank++) {
        const float *theirs = all + (size_t)rank * TELLS;
        uint64_t there = ((uint64_t)theirs[TELLS_HIGH] << HALF) + (uint64_t)theirs[TELLS_LOW];
        bool settled = theirs[TELLS_SETTLED] > 0;
        standing.somebody_failed |= theirs[TELLS_FAILED] > 0;
        standing.alike &= settled && there == step;
        if (settled == standing.somebody_settled && (!found || there > standing.farthest)) {
            standing.farthest = there;
            standing.holder = rank;
            found = true;
        }
    }
    *ret = standing;
    return 0;
}

/* From the holder to all, through memory of its own, so that a transfer that breaks spoils nothing.
 */
static int take_over_state(struct fit_loop *loop, int holder, struct err *err)
{
    struct reducer *reducer = loop->reducer;
    size_t learned_count = 0;
    float *learned = fit_loop_learned(loop, &learned_count);
    size_t slots = (size_t)loop->optimizer->slot_count * loop->optimizer->floats;
    const struct {
        float *at;
        size_t count;
    } pieces[] = {
        {loop->params->values, loop->params->floats},
        {loop->optimizer->slots, slots},
        {learned, learned_count},
    };
    size_t total = 0;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
        total += pieces[i].count;
    _cleanup_free_ float *state = mem_calloc(total + 1, sizeof(*state));
    float *at = state;
    for (size_t i = 0; reducer->rank == holder && i < ARRAY_SIZE(pieces); i++)
        at = pieces[i].count ? mempcpy(at, pieces[i].at, pieces[i].count * sizeof(float)) : at;
    int result = reducer->broadcast(reducer, holder, state, total, err);
    if (result < 0)
        return result;
    at = state;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); at += pieces[i].count, i++)
        if (pieces[i].count)
            memcpy(pieces[i].at, at, pieces[i].count * sizeof(float));
    loop->model->steps->changed(loop->context);
    return 0;
}

/* Nobody has anything: rank 0 reads the newest checkpoint, or what a new run begins with, and the
 * others hear of it, also if that fails. */
static int begin_run(struct fit_loop *loop, uint64_t *step, struct standing *standing,
                     struct err *err)
{
    struct err problem = ERR_INIT;
    int restored = 0;
    *step = 0;
    if (loop->reducer->rank == 0 && loop->options->model_dir)
        restored = fit_save_restore(loop, step, &problem);
    if (loop->reducer->rank == 0 && restored == 0 && *step == 0 && loop->model->steps->first_values)
        restored = loop->model->steps->first_values(loop->context, &problem);
    int result = compare_standing(loop, restored < 0, *step, standing, err);
    if (restored < 0)
        return err_set(err, problem.code, "%s", problem.message);
    if (result == 0 && standing->somebody_failed)
        return err_set(err, ERR_CANCELED, "the first worker cannot start; its log says why");
    return result;
}

int fit_agree(struct fit_loop *loop, uint64_t *step, struct err *err)
{
    struct standing standing;
    int result = compare_standing(loop, false, *step, &standing, err);
    if (result == 0 && !standing.somebody_settled)
        result = begin_run(loop, step, &standing, err);
    if (result == 0 && !standing.alike)
        result = take_over_state(loop, standing.holder, err);
    if (result < 0)
        return result;
    *step = standing.farthest;
    loop->joined = !loop->settled && standing.somebody_settled;
    loop->settled = true;
    if (loop->reducer->settle)
        loop->reducer->settle(loop->reducer);
    return 0;
}
