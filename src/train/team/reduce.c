/* Sums the gradients of a team over all workers, and chooses the quanta; see team.h and
 * exact_sum.h. */
#include "train/team/private.h"

#include <math.h>
#include <string.h>

/* Sums the gradients that the backward pass has not sent yet, and waits for the other sums. */
static int sum_gradients(struct team *team, struct err *err)
{
    struct params *params = team->options.params;
    struct reducer *reducer = team->options.reducer;
    /* If the reducer rounds large sums, the floats after the gradients are summed separately,
     * because a small sum is not rounded. */
    float *tail = params->gradients + params->floats;
    if (team->begun == params->floats && reducer->rounds) {
        int result = reducer->allreduce(reducer, params->gradients, params->floats, err);
        return result < 0 ? result : reducer->allreduce(reducer, tail, PARAMS_TAIL, err);
    }
    if (team->begun == params->floats)
        return reducer->allreduce(reducer, params->gradients, params->floats + PARAMS_TAIL, err);
    int result = reducer->begin(reducer, params->gradients, team->begun, err);
    if (result == 0)
        result = reducer->begin(reducer, tail, PARAMS_TAIL, err);
    int finished = reducer->finish(reducer, result < 0 ? NULL : err);
    return result < 0 ? result : finished;
}

/* Merges the surveys of all workers. The result does not depend on how the parts are shared between
 * the workers. */
static int gather_surveys(struct team *team, struct err *err)
{
    struct reducer *reducer = team->options.reducer;
    size_t row = 1 + team->options.params->count;
    if (reducer->size == 1)
        return 0;
    int result = reducer->allgather(reducer, team->survey, row, team->all_surveys, err);
    if (result < 0)
        return result;
    memset(team->survey, 0, row * sizeof(float));
    for (size_t i = 0; i < (size_t)reducer->size; i++) {
        const float *other = team->all_surveys + i * row;
        team->survey[0] += other[0];
        for (size_t j = 1; j < row; j++)
            team->survey[j] = fmaxf(team->survey[j], other[j]);
    }
    return 0;
}

static int sum_and_survey(struct team *team, struct err *err)
{
    int result = sum_gradients(team, err);
    return result < 0 ? result : gather_surveys(team, err);
}

static void learn_quanta(struct team *team)
{
    exact_sum_learn(&team->sum, team->survey + 1, team->options.params->count,
                    (size_t)team->survey[0]);
}

/* Chooses quanta for which the sums are exact, and repeats the backward pass and the sums. On
 * failure, restores the old quanta, which other workers may still have. `tail` is the floats after
 * the gradients, which the backward pass sets to zero. */
static int repeat_backward(struct team *team, const float *tail, struct err *err)
{
    struct params *params = team->options.params;
    size_t quanta = params->count * sizeof(float);
    memcpy(team->quanta_before, team->sum.quantum, quanta);
    learn_quanta(team);
    int result = team_backward(team, team->d_outputs, err);
    if (result == 0) {
        memcpy(params->gradients + params->floats, tail, PARAMS_TAIL * sizeof(float));
        result = sum_and_survey(team, err);
    }
    if (result < 0)
        memcpy(team->sum.quantum, team->quanta_before, quanta);
    return result;
}

int team_reduce(struct team *team, struct err *err)
{
    const struct params *params = team->options.params;
    if (!team->options.reducer)
        return 0;
    float tail[PARAMS_TAIL];
    memcpy(tail, params->gradients + params->floats, sizeof(tail));
    int result = sum_and_survey(team, err);
    if (result < 0 ||
        exact_sum_fits(&team->sum, team->survey + 1, params->count, (size_t)team->survey[0]))
        return result;
    return repeat_backward(team, tail, err);
}

void team_learn(struct team *team)
{
    learn_quanta(team);
    network_learn(team->options.network, team->totals);
}
