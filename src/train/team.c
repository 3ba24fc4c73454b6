/* The threads of one worker; see team.h. */
#include "train/team.h"

#include "base/mem.h"
#include "train/exact_sum.h"

#include <pthread.h>
#include <string.h>

struct team_member {
    struct team *team;
    int index;
    struct workspace *workspace;
    float *part;      /* gradients of one part of the batch */
    float *gradients; /* of all its parts; the first one's is the arena of the parameters itself */
    pthread_t thread;
};

struct team {
    struct team_options options;
    struct exact_sum sum;
    struct tape **tapes; /* one a part: activations live until the way back */
    int parts;
    int threads;
    struct team_member *members;
    /* Of the pass under way. */
    bool back;
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
};

int team_new(const struct team_options *options, struct team **ret, struct err *err)
{
    if (options->threads < 1 || options->threads > TEAM_THREADS_MAX)
        return err_set(err, ERR_INVALID, "%d threads are not in 1 … %d", options->threads,
                       TEAM_THREADS_MAX);
    struct team *team = mem_zalloc(sizeof(*team));
    struct params *params = options->params;
    team->options = *options;
    exact_sum_init(&team->sum, params);
    team->parts = (options->samples + options->part - 1) / options->part;
    team->threads = options->threads < team->parts ? options->threads : team->parts;
    team->threads = team->threads < 1 ? 1 : team->threads;
    team->tapes = mem_calloc((size_t)team->parts + 1, sizeof(struct tape *));
    for (int i = 0; i < team->parts; i++)
        team->tapes[i] = tape_new(options->network, options->part);
    team->members = mem_calloc((size_t)team->threads, sizeof(*team->members));
    for (int i = 0; i < team->threads; i++) {
        struct team_member *member = &team->members[i];
        member->team = team;
        member->index = i;
        member->workspace = workspace_new(options->network, options->part);
        member->part = mem_calloc(params->floats, sizeof(float));
        member->gradients = i ? mem_calloc(params->floats, sizeof(float)) : params->gradients;
    }
    *ret = team;
    return 0;
}

struct team *team_free(struct team *team)
{
    if (!team)
        return NULL;
    for (int i = 0; i < team->parts; i++)
        tape_free(team->tapes[i]);
    for (int i = 0; i < team->threads; i++) {
        workspace_free(team->members[i].workspace);
        free(team->members[i].part);
        if (i)
            free(team->members[i].gradients);
    }
    exact_sum_release(&team->sum);
    free(team->tapes);
    free(team->members);
    free(team);
    return NULL;
}

void team_learn(struct team *team)
{
    exact_sum_learn(&team->sum, team->options.params, team->options.params->gradients);
}

void team_restart(struct team *team)
{
    exact_sum_release(&team->sum);
    exact_sum_init(&team->sum, team->options.params);
}

static void part_forward(struct team_member *member, int part, size_t at, int n)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    size_t out = shape_sample(network_output_shape(network));
    if (team->draw) {
        struct layer_draw draw = *team->draw;
        draw.position += at;
        tape_draw(team->tapes[part], &draw);
    }
    const float *from =
        network_forward(network, team->tapes[part], member->workspace,
                        team->inputs + at * shape_sample(network_input_shape(network)), n);
    memcpy(team->outputs + at * out, from, (size_t)n * out * sizeof(*from));
}

static void part_backward(struct team_member *member, int part, size_t at)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    const struct params *params = team->options.params;
    memset(member->part, 0, params->floats * sizeof(float));
    network_backward(network, team->tapes[part], member->workspace,
                     team->d_outputs + at * shape_sample(network_output_shape(network)),
                     member->part);
    exact_sum_add(&team->sum, params, member->part, member->gradients);
}

/* Every thread takes the parts whose number is its own modulo the number of threads. */
static void *run_member(void *argument)
{
    struct team_member *member = argument;
    struct team *team = member->team;
    for (int part = member->index; part < team->parts; part += team->threads) {
        int at = part * team->options.part, left = team->options.samples - at;
        if (team->back)
            part_backward(member, part, (size_t)at);
        else
            part_forward(member, part, (size_t)at,
                         left < team->options.part ? left : team->options.part);
    }
    return NULL;
}

static int run(struct team *team, bool back, struct err *err)
{
    int started = 1, failed = 0;
    team->back = back;
    for (; started < team->threads && !failed; started += !failed)
        failed = pthread_create(&team->members[started].thread, NULL, run_member,
                                &team->members[started]);
    if (!failed)
        run_member(&team->members[0]);
    for (int i = 1; i < started; i++)
        pthread_join(team->members[i].thread, NULL);
    return failed ? err_set_errno(err, failed, "cannot start a thread") : 0;
}

int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err)
{
    team->inputs = inputs;
    team->draw = draw;
    team->outputs = ret_outputs;
    return run(team, false, err);
}

int team_backward(struct team *team, const float *d_outputs, struct err *err)
{
    struct params *params = team->options.params;
    params_clear_gradients(params);
    for (int i = 1; i < team->threads; i++)
        memset(team->members[i].gradients, 0, params->floats * sizeof(float));
    team->d_outputs = d_outputs;
    int result = run(team, true, err);
    for (int i = 1; result == 0 && i < team->threads; i++)
        for (size_t j = 0; j < params->floats; j++)
            params->gradients[j] += team->members[i].gradients[j];
    return result;
}
