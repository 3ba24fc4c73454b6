/* Divides the passes of a team into stretches; see struct team_plan in private.h. */
#include "base/mem.h"
#include "train/team/private.h"
#include "train/team/reducer_queue.h"

int team_plan_parts(const struct team_options *options, int samples)
{
    return (samples + options->part - 1) / options->part;
}

static void add_stretch(struct team_plan *plan, struct team_stretch stretch)
{
    plan->stretches[plan->count++] = stretch;
}

/* Divides the passes at wide layers, which need sums over the whole batch. In both passes a stretch
 * ends just before a wide layer runs. */
static void plan_wide(struct team *team)
{
    const struct network *network = team->options.network;
    int count = (int)network_layer_count(network);
    for (int first = 0, next = network_next_wide(network, 0);;
         first = next, next = network_next_wide(network, next + 1)) {
        add_stretch(&team->forward,
                    (struct team_stretch){first, next, next < count ? next : -1, false});
        if (next == count)
            break;
    }
    int last = count;
    for (int i = team->forward.count - 1; i > 0; i--) {
        int wide = team->forward.stretches[i].first;
        add_stretch(&team->back, (struct team_stretch){wide + 1, last, wide, false});
        last = wide + 1;
    }
    add_stretch(&team->back, (struct team_stretch){0, last, -1, false});
}

size_t team_plan_offset(const struct team *team, int layer)
{
    size_t first, last;
    network_params(team->options.network, layer, layer, &first, &last);
    return first < team->options.params->count ? team->options.params->entries[first].offset
                                               : team->options.params->floats;
}

/* Divides the backward pass wherever at least `bucket` gradients are complete, so that they can be
 * sent. team_reduce() sends the gradients of the last stretch, and then the floats after the
 * gradients. With these two, the queue must not have more than REDUCER_QUEUE_MAX sums. */
static void plan_sending(struct team *team)
{
    size_t bucket = team->options.bucket, from = team->options.params->floats;
    int last = (int)network_layer_count(team->options.network);
    for (int layer = last - 1; bucket && layer > 0; layer--) {
        size_t offset = team_plan_offset(team, layer);
        if (from - offset < bucket || offset == 0 || team->sending.count + 3 > REDUCER_QUEUE_MAX)
            continue;
        add_stretch(&team->sending, (struct team_stretch){layer, last, -1, true});
        last = layer;
        from = offset;
    }
    add_stretch(&team->sending, (struct team_stretch){0, last, -1, false});
}

void team_plan_make(struct team *team)
{
    const struct network *network = team->options.network;
    const struct reducer *reducer = team->options.reducer;
    size_t count = network_layer_count(network), largest = 0;
    for (int i = network_next_wide(network, 0); i < (int)count;
         i = network_next_wide(network, i + 1)) {
        size_t sums = network_sum_count(network, i);
        largest = sums > largest ? sums : largest;
    }
    team->forward.stretches = mem_calloc(count + 1, sizeof(struct team_stretch));
    team->back.stretches = mem_calloc(count + 1, sizeof(struct team_stretch));
    team->sending.stretches = mem_calloc(count + 1, sizeof(struct team_stretch));
    plan_wide(team);
    plan_sending(team);
    int share = team->options.share_max > team->options.samples ? team->options.share_max
                                                                : team->options.samples;
    size_t workers = reducer ? (size_t)reducer->size : 1;
    team->rows = (size_t)team_plan_parts(&team->options, share);
    team->sums = mem_calloc(team->rows * largest + 1, sizeof(float));
    team->all_sums = mem_calloc(workers * team->rows * largest + 1, sizeof(float));
    team->totals = mem_calloc(network_total_count(network) + 1, sizeof(float));
}

/* The choice is the same on all workers, because it depends only on the group and the network. A
 * network with wide layers does not send gradients during the pass, because gathering the sums
 * would have to wait for the gradients. */
const struct team_plan *team_plan_back(const struct team *team)
{
    const struct reducer *reducer = team->options.reducer;
    bool sends = reducer && reducer->size > 1 && reducer->far && team->back.count == 1;
    return sends ? &team->sending : &team->back;
}
