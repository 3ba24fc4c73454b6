/* Runs the forward and backward passes of a team; see team.h. After each stretch of a pass the
 * threads wait for each other. Only member 0, which is the calling thread, calls the reducer. */
#include "base/system/thread.h"
#include "train/team/private.h"

#include <math.h>
#include <string.h>

static struct network_workspace *workspace_of(struct team_member *member, int part)
{
    struct network_workspace *own = member->team->workspaces[part];
    return own ? own : member->workspace;
}

static float *sums_of(struct team *team, const struct team_stretch *stretch, int part)
{
    return team->sums + (size_t)part * network_sum_count(team->options.network, stretch->wide);
}

static void part_forward(struct team_member *member, const struct team_stretch *stretch, int part)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    struct network_tape *tape = team->tapes[part];
    struct network_workspace *workspace = workspace_of(member, part);
    int at = part * team->options.part, left = team->options.samples - at;
    int n = left < team->options.part ? left : team->options.part;
    if (stretch->first == 0) {
        struct layer_draw draw = *team->draw;
        draw.position += (uint64_t)at;
        network_tape_draw(tape, &draw);
        network_start(network, tape, workspace,
                      team->inputs + (size_t)at * shape_sample(network_input_shape(network)), n);
    }
    network_forward_layers(network, tape, workspace, stretch->first, stretch->last);
    if (stretch->wide >= 0) {
        network_forward_sums(network, tape, workspace, stretch->wide, sums_of(team, stretch, part));
        return;
    }
    size_t out = shape_sample(network_output_shape(network));
    memcpy(team->outputs + (size_t)at * out, network_output(network, tape),
           (size_t)n * out * sizeof(float));
}

static void part_backward(struct team_member *member, const struct team_stretch *stretch, int part)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    const struct params *params = team->options.params;
    size_t at = (size_t)part * (size_t)team->options.part, first, last;
    const float *d_output = team->d_outputs + at * shape_sample(network_output_shape(network));
    struct network_workspace *workspace = workspace_of(member, part);
    network_params(network, stretch->first, stretch->last, &first, &last);
    for (size_t i = first; i < last; i++)
        memset(member->part + params->entries[i].offset, 0,
               params->entries[i].count * sizeof(float));
    network_backward_layers(network, team->tapes[part], workspace, d_output, member->part,
                            stretch->first, stretch->last);
    exact_sum_add(&team->sum, params, first, last, member->part, member->gradients,
                  member->largest);
    if (stretch->wide >= 0)
        network_backward_sums(network, team->tapes[part], workspace, d_output, stretch->wide,
                              sums_of(team, stretch, part));
}

/* Gathers the sums of a wide layer from all parts of all workers, and merges them in the order of
 * the batch. A worker with fewer parts than the largest share adds rows of zeros. */
static int team_exchange_sums(struct team *team, const struct team_stretch *stretch,
                              struct err *err)
{
    const struct network *network = team->options.network;
    struct reducer *reducer = team->options.reducer;
    size_t count = network_sum_count(network, stretch->wide), parts = (size_t)team->parts;
    memset(team->sums + parts * count, 0, (team->rows - parts) * count * sizeof(float));
    if (!reducer || reducer->size == 1) {
        network_merge(network, stretch->wide, team->is_back, team->sums, parts, team->totals);
        return 0;
    }
    int result = reducer->allgather(reducer, team->sums, team->rows * count, team->all_sums, err);
    if (result == 0)
        network_merge(network, stretch->wide, team->is_back, team->all_sums,
                      (size_t)reducer->size * team->rows, team->totals);
    return result;
}

/* Sums the gradients of all threads for the layers of a finished stretch. Each thread sums one
 * slice. */
static void add_gradients(struct team_member *member, const struct team_stretch *stretch)
{
    struct team *team = member->team;
    float *restrict total = team->options.params->gradients;
    size_t first = team_plan_offset(team, stretch->first);
    size_t count = team_plan_offset(team, stretch->last) - first;
    size_t from = first + team_slice(count, member->index, team->threads),
           to = first + team_slice(count, member->index + 1, team->threads);
    for (int i = 1; i < team->threads; i++) {
        const float *restrict gradients = team->members[i].gradients;
        for (size_t j = from; j < to; j++)
            total[j] += gradients[j];
    }
}

/* Begins to sum the gradients of a finished stretch over the workers, in the background. */
static int send_gradients(struct team *team, const struct team_stretch *stretch, struct err *err)
{
    struct params *params = team->options.params;
    struct reducer *reducer = team->options.reducer;
    size_t first = team_plan_offset(team, stretch->first);
    int result = reducer->begin(reducer, params->gradients + first, team->begun - first, err);
    if (result == 0)
        team->begun = first;
    return result;
}

static void team_barrier(struct team *team)
{
    if (team->threads > 1)
        pthread_barrier_wait(&team->barrier);
}

/* After a stretch, gathers the sums of a wide layer or begins to send gradients. Sets team->result.
 * Called on member 0 while the other threads wait. */
static void exchange_stretch(struct team *team, const struct team_stretch *stretch)
{
    if (stretch->wide >= 0)
        team->result = team_exchange_sums(team, stretch, team->err);
    else if (stretch->sends)
        team->result = send_gradients(team, stretch, team->err);
}

static void clear_gradients(struct team_member *member)
{
    struct params *params = member->team->options.params;
    memset(member->largest, 0, params->count * sizeof(float));
    if (member->index == 0)
        params_clear_gradients(params); /* also clears the PARAMS_TAIL floats after the gradients */
    else
        memset(member->gradients, 0, params->floats * sizeof(float));
}

/* Runs the pass on one thread. A thread computes the parts whose number modulo the number of
 * threads is its index. */
static void run_member(struct team_member *member)
{
    struct team *team = member->team;
    if (team->is_back)
        clear_gradients(member);
    for (int i = 0; i < team->plan->count && team->result == 0; i++) {
        const struct team_stretch *stretch = &team->plan->stretches[i];
        for (int part = member->index; part < team->parts; part += team->threads)
            (team->is_back ? part_backward : part_forward)(member, stretch, part);
        team_barrier(team);
        if (team->is_back)
            add_gradients(member, stretch);
        if (stretch->sends)
            team_barrier(team); /* all slices must be complete before they are sent */
        if (member->index == 0)
            exchange_stretch(team, stretch);
        team_barrier(team);
    }
}

static void *member_thread(void *argument)
{
    struct team_member *member = argument;
    pthread_mutex_lock(&member->team->start);
    pthread_mutex_unlock(&member->team->start);
    run_member(member); /* runs no stretch if another thread could not be started */
    return NULL;
}

/* Starts the threads, runs all stretches of a pass, and waits for the threads. Returns
 * team->result. */
static int run_plan(struct team *team, const struct team_plan *plan, bool back, struct err *err)
{
    int started = 1;
    team->plan = plan;
    team->is_back = back;
    team->result = 0;
    team->err = err;
    pthread_barrier_init(&team->barrier, NULL, (unsigned)team->threads);
    pthread_mutex_lock(&team->start);
    for (; started < team->threads && team->result == 0; started += team->result == 0)
        team->result =
            thread_start(&team->members[started].thread, NULL, "a compute thread of --threads",
                         member_thread, &team->members[started], err);
    pthread_mutex_unlock(&team->start);
    run_member(&team->members[0]);
    for (int i = 1; i < started; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_barrier_destroy(&team->barrier);
    return team->result;
}

int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err)
{
    team->inputs = inputs;
    team->draw = draw;
    team->outputs = ret_outputs;
    return run_plan(team, &team->forward, false, err);
}

/* Sets team->survey from team_member.largest of all threads. */
static void survey_gradients(struct team *team)
{
    size_t entries = team->options.params->count;
    team->survey[0] = (float)team->parts;
    memset(team->survey + 1, 0, entries * sizeof(float));
    for (int i = 0; i < team->threads; i++)
        for (size_t j = 0; j < entries; j++)
            team->survey[1 + j] = fmaxf(team->survey[1 + j], team->members[i].largest[j]);
}

int team_backward(struct team *team, const float *d_outputs, struct err *err)
{
    struct params *params = team->options.params;
    team->d_outputs = d_outputs;
    team->begun = params->floats;
    const struct team_plan *plan = team_plan_back(team);
    team_need_workspaces(team, plan);
    int result = run_plan(team, plan, true, err);
    if (result < 0 && team->begun < params->floats) /* the caller does not call team_reduce() */
        (void)team->options.reducer->finish(team->options.reducer, NULL);
    if (result == 0)
        survey_gradients(team);
    return result;
}
