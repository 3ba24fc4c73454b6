/* The threads of one worker; see team.h. A pass is a list of stretches of layers: all parts go
 * through one before any goes on to the next, where a layer has to look at the whole batch, or
 * where gradients can be sent while the rest is computed. Between two stretches the threads wait
 * for each other, and the first one speaks with the other workers. */
#include "train/team.h"

#include "base/mem.h"
#include "base/thread.h"
#include "train/exact_sum.h"
#include "train/reducer_queue.h"

#include <pthread.h>
#include <string.h>

struct stretch {
    int first, last; /* layers first … last - 1 */
    int wide;        /* behind it: the layer whose sums are wanted now, or -1 */
    bool whole;      /* behind it: its gradients can be summed with those of the others */
};

struct plan {
    struct stretch *stretches;
    int count;
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
    struct plan forward, back, sending; /* the last: back, with gradients sent on the way */
    size_t begun;           /* gradients from here on are being summed over the workers */
    size_t rows;            /* parts of the largest share */
    float *sums, *all_sums; /* rows of one layer; those of all workers */
    float *totals;
    /* Of the pass under way. */
    const struct plan *plan;
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

static void add_stretch(struct plan *plan, struct stretch stretch)
{
    plan->stretches[plan->count++] = stretch;
}

/* Forward a wide layer is the first of its stretch, back the last. */
static void plan_wide(struct team *team)
{
    const struct network *network = team->options.network;
    int count = (int)network_layer_count(network);
    for (int first = 0, next = network_next_wide(network, 0);;
         first = next, next = network_next_wide(network, next + 1)) {
        add_stretch(&team->forward, (struct stretch){first, next, next < count ? next : -1, false});
        if (next == count)
            break;
    }
    int last = count;
    for (int i = team->forward.count - 1; i > 0; i--) {
        int wide = team->forward.stretches[i].first;
        add_stretch(&team->back, (struct stretch){wide + 1, last, wide, false});
        last = wide + 1;
    }
    add_stretch(&team->back, (struct stretch){0, last, -1, false});
}

static size_t offset_of(const struct team *team, int layer)
{
    size_t first, last;
    network_params(team->options.network, layer, layer, &first, &last);
    return first < team->options.params->count ? team->options.params->entries[first].offset
                                               : team->options.params->floats;
}

/* The way back is cut where as many gradients are whole as are worth sending; the last piece is
 * sent when there is nothing more to compute. */
static void plan_sending(struct team *team)
{
    size_t bucket = team->options.bucket, from = team->options.params->floats;
    int last = (int)network_layer_count(team->options.network);
    for (int layer = last - 1; bucket && layer > 0; layer--) {
        size_t offset = offset_of(team, layer);
        if (from - offset < bucket || offset == 0 || team->sending.count + 3 > REDUCER_QUEUE_MAX)
            continue;
        add_stretch(&team->sending, (struct stretch){layer, last, -1, true});
        last = layer;
        from = offset;
    }
    add_stretch(&team->sending, (struct stretch){0, last, -1, false});
}

static void plan(struct team *team)
{
    const struct network *network = team->options.network;
    const struct reducer *reducer = team->options.reducer;
    size_t count = network_layer_count(network), largest = 0;
    for (int i = network_next_wide(network, 0); i < (int)count;
         i = network_next_wide(network, i + 1)) {
        size_t sums = network_sum_count(network, i);
        largest = sums > largest ? sums : largest;
    }
    team->forward.stretches = mem_calloc(count + 1, sizeof(struct stretch));
    team->back.stretches = mem_calloc(count + 1, sizeof(struct stretch));
    team->sending.stretches = mem_calloc(count + 1, sizeof(struct stretch));
    plan_wide(team);
    plan_sending(team);
    int share = team->options.share_max > team->options.samples ? team->options.share_max
                                                                : team->options.samples;
    size_t workers = reducer ? (size_t)reducer->size : 1;
    team->rows = (size_t)parts_of(&team->options, share);
    team->sums = mem_calloc(team->rows * largest + 1, sizeof(float));
    team->all_sums = mem_calloc(workers * team->rows * largest + 1, sizeof(float));
    team->totals = mem_calloc(network_total_count(network) + 1, sizeof(float));
}

/* Every worker decides the same, since all see the same group. What is gathered on the way back
 * would have to wait for what is sent, so a network does one or the other. */
static const struct plan *plan_back(const struct team *team)
{
    const struct reducer *reducer = team->options.reducer;
    bool sends = reducer && reducer->size > 1 && reducer->far && team->back.count == 1;
    return sends ? &team->sending : &team->back;
}

/* A part whose way back is interrupted needs its gradients of activations for itself. */
static void need_workspaces(struct team *team, const struct plan *plan)
{
    for (int i = 0; plan->count > 1 && i < team->parts && !team->workspaces[i]; i++)
        team->workspaces[i] = workspace_new(team->options.network, team->options.part);
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
    }
    need_workspaces(team, &team->back);
    team->members = mem_calloc((size_t)team->threads, sizeof(*team->members));
    for (int i = 0; i < team->threads; i++) {
        struct team_member *member = &team->members[i];
        member->team = team;
        member->index = i;
        if (team->back.count == 1)
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
    free(team->forward.stretches);
    free(team->back.stretches);
    free(team->sending.stretches);
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

/* Of the layers of a stretch, which all parts have been through: the threads' gradients added up.
 */
static void add_up(struct team *team, const struct stretch *stretch)
{
    struct params *params = team->options.params;
    size_t first = offset_of(team, stretch->first), last = offset_of(team, stretch->last);
    for (int i = 1; i < team->threads; i++)
        for (size_t j = first; j < last; j++)
            params->gradients[j] += team->members[i].gradients[j];
}

static int send(struct team *team, const struct stretch *stretch, struct err *err)
{
    struct params *params = team->options.params;
    struct reducer *reducer = team->options.reducer;
    size_t first = offset_of(team, stretch->first);
    int result = reducer->begin(reducer, params->gradients + first, team->begun - first, err);
    if (result == 0)
        team->begun = first;
    return result;
}

static void meet(struct team *team)
{
    if (team->threads > 1)
        pthread_barrier_wait(&team->barrier);
}

/* The first thread, while the others wait. */
static void speak(struct team *team, const struct stretch *stretch)
{
    if (team->is_back)
        add_up(team, stretch);
    if (stretch->wide >= 0)
        team->result = look_around(team, stretch, team->err);
    else if (stretch->whole)
        team->result = send(team, stretch, team->err);
}

/* Every thread takes the parts whose number is its own modulo the number of threads. */
static void run_member(struct team_member *member)
{
    struct team *team = member->team;
    for (int i = 0; i < team->plan->count && team->result == 0; i++) {
        const struct stretch *stretch = &team->plan->stretches[i];
        for (int part = member->index; part < team->parts; part += team->threads)
            (team->is_back ? part_backward : part_forward)(member, stretch, part);
        meet(team);
        if (member->index == 0)
            speak(team, stretch);
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

static int run(struct team *team, const struct plan *plan, bool back, struct err *err)
{
    int started = 1;
    team->plan = plan;
    team->is_back = back;
    team->result = 0;
    team->err = err;
    pthread_barrier_init(&team->barrier, NULL, (unsigned)team->threads);
    pthread_mutex_lock(&team->start);
    for (; started < team->threads && team->result == 0; started += team->result == 0)
        team->result = thread_start(&team->members[started].thread, NULL, "a thread of --threads",
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
    return run(team, &team->forward, false, err);
}

int team_backward(struct team *team, const float *d_outputs, struct err *err)
{
    struct params *params = team->options.params;
    params_clear_gradients(params);
    for (int i = 1; i < team->threads; i++)
        memset(team->members[i].gradients, 0, params->floats * sizeof(float));
    team->d_outputs = d_outputs;
    team->begun = params->floats;
    const struct plan *plan = plan_back(team);
    need_workspaces(team, plan);
    int result = run(team, plan, true, err);
    if (result < 0 && team->begun < params->floats)
        (void)team->options.reducer->finish(team->options.reducer, NULL);
    return result;
}

int team_reduce(struct team *team, struct err *err)
{
    struct params *params = team->options.params;
    struct reducer *reducer = team->options.reducer;
    if (!reducer)
        return 0;
    float *tail = params->gradients + params->floats; /* numbers of its own, which must be exact */
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
