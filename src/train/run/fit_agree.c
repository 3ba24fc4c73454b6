/* Compares the states of all workers and copies the latest; see fit_agree.h. */
#include "train/run/fit_agree.h"

#include "base/mem.h"
#include "train/run/fit_save.h"
#include "train/run/model.h"

#include <string.h>

enum { HALF = 20 }; /* bits of a step number per float; a float can represent 24 bits exactly */

/* The floats that each worker sends to all others: whether it has the state of the run, whether it
 * could not start the run, and the high and low bits of its step. */
enum { STATE_SETTLED, STATE_FAILED, STATE_HIGH, STATE_LOW, STATE_FLOATS };

struct group_state {
    bool any_settled;     /* at least one worker has the state of the run */
    bool any_failed;      /* at least one worker could not start the run */
    bool equal;           /* all workers have the state of the run, at the same step */
    int source;           /* rank from which all workers copy the state */
    uint64_t latest_step; /* step of the source */
};

/* Exchanges `failed` and `step` of all workers, and finds the worker with the latest state. */
static int compare_states(struct fit_loop *loop, bool failed, uint64_t step,
                          struct group_state *ret, struct err *err)
{
    struct reducer *reducer = loop->reducer;
    const float own[STATE_FLOATS] = {loop->settled, failed, (float)(step >> HALF),
                                     (float)(step & ((1 << HALF) - 1))};
    _cleanup_free_ float *all = mem_calloc((size_t)reducer->size * STATE_FLOATS, sizeof(*all));
    int result = reducer->allgather(reducer, own, STATE_FLOATS, all, err);
    if (result < 0)
        return result;
    struct group_state group = {.equal = true};
    for (int rank = 0; rank < reducer->size; rank++)
        group.any_settled |= all[(size_t)rank * STATE_FLOATS + STATE_SETTLED] > 0;
    bool found = false;
    for (int rank = 0; rank < reducer->size; rank++) {
        const float *theirs = all + (size_t)rank * STATE_FLOATS;
        uint64_t their_step = ((uint64_t)theirs[STATE_HIGH] << HALF) + (uint64_t)theirs[STATE_LOW];
        bool settled = theirs[STATE_SETTLED] > 0;
        group.any_failed |= theirs[STATE_FAILED] > 0;
        group.equal &= settled && their_step == step;
        if (settled == group.any_settled && (!found || their_step > group.latest_step)) {
            group.latest_step = their_step;
            group.source = rank;
            found = true;
        }
    }
    *ret = group;
    return 0;
}

/* Copies the state of the source to all workers. The transfer uses separate memory, so that the old
 * state stays intact if the transfer fails. */
static int copy_state(struct fit_loop *loop, int source, struct err *err)
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
    for (size_t i = 0; reducer->rank == source && i < ARRAY_SIZE(pieces); i++)
        at = pieces[i].count ? mempcpy(at, pieces[i].at, pieces[i].count * sizeof(float)) : at;
    int result = reducer->broadcast(reducer, source, state, total, err);
    if (result < 0)
        return result;
    at = state;
    for (size_t i = 0; i < ARRAY_SIZE(pieces); at += pieces[i].count, i++)
        if (pieces[i].count)
            memcpy(pieces[i].at, at, pieces[i].count * sizeof(float));
    loop->model->steps->changed(loop->context);
    return 0;
}

/* Starts the run if no worker has its state. Rank 0 reads the newest checkpoint or sets the first
 * values of a new run. If rank 0 cannot start the run, all workers return an error. */
static int begin_run(struct fit_loop *loop, uint64_t *step, struct group_state *group,
                     struct err *err)
{
    struct err problem = ERR_INIT;
    int restored = 0;
    *step = 0;
    if (loop->reducer->rank == 0 && loop->options->model_dir)
        restored = fit_save_restore(loop, step, &problem);
    if (loop->reducer->rank == 0 && restored == 0 && *step == 0 && loop->model->steps->first_values)
        restored = loop->model->steps->first_values(loop->context, &problem);
    int result = compare_states(loop, restored < 0, *step, group, err);
    if (restored < 0)
        return err_set(err, problem.code, "%s", problem.message);
    if (result == 0 && group->any_failed)
        return err_set(err, ERR_CANCELED, "the first worker cannot start; its log says why");
    return result;
}

int fit_agree(struct fit_loop *loop, uint64_t *step, struct err *err)
{
    struct group_state group;
    int result = compare_states(loop, false, *step, &group, err);
    if (result == 0 && !group.any_settled)
        result = begin_run(loop, step, &group, err);
    if (result == 0 && !group.equal)
        result = copy_state(loop, group.source, err);
    if (result < 0)
        return result;
    *step = group.latest_step;
    loop->joined = !loop->settled && group.any_settled;
    loop->settled = true;
    if (loop->reducer->settle)
        loop->reducer->settle(loop->reducer);
    return 0;
}
