/* The threads of one worker; see team.h. A pass is a list of stretches of layers: all parts go
 * through one before any goes on to the next, where a layer has to look at the whole batch. Between
 * two stretches the threads wait for each other, and the first one speaks with the other workers.
 */
#include "train/team.h"

#include "base/mem.h"
#include "train/exact_sum.h"

#include <pthread.h>
#include <string.h>

struct stretch {
    int first, last; /* layers first … last - 1 */
    int wide;        /* behind it: the layer whose sums are wanted now, or -1 */
};

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
    int parts;
    struct tape **tapes;           /* one a part: activations live until the way back */
    struct workspace **workspaces; /* one a part where the way back has several stretches */
    int threads;
    struct team_member *members;
    struct stretch *forward, *back;
    int stretches;          /* of either */
    size_t rows;            /* parts of the largest share */
    float *sums, *all_sums; /* rows of one layer; those of all workers */
    float *totals;
    /* Of the pass under way. */
    bool is_back;
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
    int result;
    struct err *err;
    pthread_mutex_t start; /* held until all threads are there */
    pthread_barrier_t barrier;
};

static int parts_of(const struct team_options *options, int samples)
{
    return (samples + options->part - 1) / options->part;
}

/* Forward a wide layer is the first of its stretch, back the last. */
static void plan(struct team *team)
{
    const struct network *network = team->options.network;
    int count = (int)network_layer_count(network), wide = 0;
    size_t largest = 0;
    for (int i = network_next_wide(network, 0); i < count; i = network_next_wide(network, i + 1)) {
        size_t sums = network_sum_count(network, i);
        largest = sums > largest ? sums : largest;
        wide++;
    }
    team->stretches = wide + 1;
    team->forward = mem_calloc((size_t)team->stretches, sizeof(*team->forward));
    team->back = mem_calloc((size_t)team->stretches, sizeof(*team->back));
    for (int i = 0, first = 0; i <= wide; i++) {
        int next = network_next_wide(network, i ? first + 1 : 0);
        team->forward[i] = (struct stretch){first, next, next < count ? next : -1};
        first = next;
    }
    for (int i = 0, last = count; i <= wide; i++) {
        int next = team->forward[wide - i].first;
        bool end = i == wide;
        team->back[i] = (struct stretch){end ? 0 : next + 1, last, end ? -1 : next};
        last = next + 1;
    }
    size_t workers = team->options.reducer ? (size_t)team->options.reducer->size : 1;
    int share = team->options.share_max > team->options.samples ? team->options.share_max
                                                                : team->options.samples;
    team->rows = (size_t)parts_of(&team->options, share);
    team->sums = mem_calloc(team->rows * largest + 1, sizeof(float));
    team->all_sums = mem_calloc(workers * team->rows * largest + 1, sizeof(float));
    team->totals = mem_calloc(network_total_count(network) + 1, sizeof(float));
}

int team_new(const struct team_options *options, struct team **ret, struct err *err)
{
    if (options->threads < 1 || options->threads > TEAM_THREADS_MAX)
        return err_set(err, ERR_INVALID, "%d threads are not in 1 … %d", options->threads,
                       TEAM_THREADS_MAX);
    struct team *team = mem_zalloc(sizeof(*team));
    struct params *params = options->params;
    team->options = *options;
    exact_sum_init(&team->sum, params);
    team->parts = parts_of(options, options->samples);
    team->threads = options->threads < team->parts ? options->threads : team->parts;
    team->threads = team->threads < 1 ? 1 : team->threads;
    plan(team);
    team->tapes = mem_calloc((size_t)team->parts + 1, sizeof(struct tape *));
    team->workspaces = mem_calloc((size_t)team->parts + 1, sizeof(struct workspace *));
    for (int i = 0; i < team->parts; i++) {
        team->tapes[i] = tape_new(options->network, options->part);
        tape_use_totals(team->tapes[i], team->totals);
        if (team->stretches > 1)
            team->workspaces[i] = workspace_new(options->network, options->part);
    }
    team->members = mem_calloc((size_t)team->threads, sizeof(*team->members));
    for (int i = 0; i < team->threads; i++) {
        struct team_member *member = &team->members[i];
        member->team = team;
        member->index = i;
        if (team->stretches == 1)
            member->workspace = workspace_new(options->network, options->part);
        member->part = mem_calloc(params->floats, sizeof(float));
        member->gradients = i ? mem_calloc(params->floats, sizeof(float)) : params->gradients;
    }
    pthread_mutex_init(&team->start, NULL);
    *ret = team;
    return 0;
}

struct team *team_free(struct team *team)
{
    if (!team)
        return NULL;
    for (int i = 0; i < team->parts; i++) {
        tape_free(team->tapes[i]);
        workspace_free(team->workspaces[i]);
    }
    for (int i = 0; i < team->threads; i++) {
        workspace_free(team->members[i].workspace);
        free(team->members[i].part);
        if (i)
            free(team->members[i].gradients);
    }
    pthread_mutex_destroy(&team->start);
    exact_sum_release(&team->sum);
    free(team->tapes);
    free(team->workspaces);
    free(team->members);
    free(team->forward);
    free(team->back);
    free(team->sums);
    free(team->all_sums);
    free(team->totals);
    free(team);
    return NULL;
}

void team_learn(struct team *team)
{
    exact_sum_learn(&team->sum, team->options.params, team->options.params->gradients);
    network_learn(team->options.network, team->totals);
}

float *team_learned(struct team *team, size_t *ret_count)
{
    *ret_count = team->options.params->count;
    return team->sum.quantum;
}

/* Nearly all of a team follows from its share, so it is made anew. */
int team_share(struct team **team, int samples, int share_max, struct err *err)
{
    struct team_options options = (*team)->options;
    options.samples = samples;
    options.share_max = share_max;
    struct team *other = NULL;
    int result = team_new(&options, &other, err);
    if (result < 0)
        return result;
    memcpy(other->sum.quantum, (*team)->sum.quantum, options.params->count * sizeof(float));
    team_free(*team);
    *team = other;
    return 0;
}

static struct workspace *workspace_of(struct team_member *member, int part)
{
    struct workspace *own = member->team->workspaces[part];
    return own ? own : member->workspace;
}

static float *sums_of(struct team *team, const struct stretch *stretch, int part)
{
    return team->sums + (size_t)part * network_sum_count(team->options.network, stretch->wide);
}

static void part_forward(struct team_member *member, const struct stretch *stretch, int part)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    struct tape *tape = team->tapes[part];
    struct workspace *workspace = workspace_of(member, part);
    int at = part * team->options.part, left = team->options.samples - at;
    int n = left < team->options.part ? left : team->options.part;
    if (stretch->first == 0) {
        struct layer_draw draw = *team->draw;
        draw.position += (uint64_t)at;
        tape_draw(tape, &draw);
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

static void part_backward(struct team_member *member, const struct stretch *stretch, int part)
{
    struct team *team = member->team;
    const struct network *network = team->options.network;
    const struct params *params = team->options.params;
    size_t at = (size_t)part * (size_t)team->options.part, first, last;
    const float *d_output = team->d_outputs + at * shape_sample(network_output_shape(network));
    struct workspace *workspace = workspace_of(member, part);
    network_params(network, stretch->first, stretch->last, &first, &last);
    for (size_t i = first; i < last; i++)
        memset(member->part + params->entries[i].offset, 0,
               params->entries[i].count * sizeof(float));
    network_backward_layers(network, team->tapes[part], workspace, d_output, member->part,
                            stretch->first, stretch->last);
    exact_sum_add(&team->sum, params, first, last, member->part, member->gradients);
    if (stretch->wide >= 0)
        network_backward_sums(network, team->tapes[part], workspace, d_output, stretch->wide,
                              sums_of(team, stretch, part));
}

/* The sums of all parts of all workers, in the order of the batch. */
static int look_around(struct team *team, const struct stretch *stretch, struct err *err)
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

static void meet(struct team *team)
{
    if (team->threads > 1)
        pthread_barrier_wait(&team->barrier);
}

/* Every thread takes the parts whose number is its own modulo the number of threads. */
static void run_member(struct team_member *member)
{
    struct team *team = member->team;
    const struct stretch *stretches = team->is_back ? team->back : team->forward;
    for (int i = 0; i < team->stretches && team->result == 0; i++) {
        for (int part = member->index; part < team->parts; part += team->threads)
            (team->is_back ? part_backward : part_forward)(member, &stretches[i], part);
        if (stretches[i].wide < 0)
            break; /* the last one */
        meet(team);
        if (member->index == 0)
            team->result = look_around(team, &stretches[i], team->err);
        meet(team);
    }
}

static void *member_thread(void *argument)
{
    struct team_member *member = argument;
    pthread_mutex_lock(&member->team->start);
    pthread_mutex_unlock(&member->team->start);
    run_member(member); /* which does nothing if a thread could not be started */
    return NULL;
}

static int run(struct team *team, bool back, struct err *err)
{
    int started = 1, failed = 0;
    team->is_back = back;
    team->result = 0;
    team->err = err;
    pthread_barrier_init(&team->barrier, NULL, (unsigned)team->threads);
    pthread_mutex_lock(&team->start);
    for (; started < team->threads && !failed; started += !failed)
        failed = pthread_create(&team->members[started].thread, NULL, member_thread,
                                &team->members[started]);
    if (failed)
        team->result = err_set_errno(err, failed, "cannot start a thread");
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
