/* Runs the forward and backward passes of a network; see network.h. */
#include "train/network/internal.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The activations of a part, and what each layer saves for the backward pass. Tensor i + 1 is the
 * output of layer i. */
struct network_tape {
    int capacity;           /* largest number of samples */
    int n;                  /* number of samples in the current pass */
    const float *input;     /* input of the current pass; owned by the caller */
    bool training;          /* network_tape_draw() was called */
    struct layer_draw draw; /* key of the random numbers, if `training` is set */
    float *arena;           /* the memory to which the offsets below refer */
    float *own_totals;      /* merged sums for a batch of one part */
    float *totals;          /* own_totals, or the memory of network_tape_use_totals() */
    size_t output_offset[NETWORK_LAYERS_MAX]; /* offset of the output of each layer */
    size_t saved_offset[NETWORK_LAYERS_MAX];  /* offset of what each layer saves */
};

struct network_workspace {
    int capacity;                               /* largest number of samples */
    float *arena;                               /* the memory to which the offsets below refer */
    size_t gradient_offset[NETWORK_LAYERS_MAX]; /* offset of the gradient of each layer's output */
    size_t scratch_offset; /* offset of the scratch memory, which all layers share */
};

float *network_floats_new(size_t count)
{
    void *memory = NULL;
    size_t size = count * sizeof(float), align = size >= 2 << 20 ? 2 << 20 : 64;
    if (posix_memalign(&memory, align, size ? size : align) != 0)
        mem_panic("out of memory: %zu bytes for the network", size);
    (void)madvise(memory, size, MADV_HUGEPAGE); /* may fail: huge pages only save time */
    memset(memory, 0, size);
    return memory;
}

struct network_tape *network_tape_new(const struct network *network, int capacity)
{
    struct network_tape *tape = mem_zalloc(sizeof(*tape));
    size_t total = 0;
    tape->capacity = capacity;
    for (int i = 0; i < network->count; i++) {
        const struct layer *layer = &network->layers[i];
        tape->output_offset[i] = total;
        total += network_aligned((size_t)capacity * shape_sample(&layer->out));
        tape->saved_offset[i] = total;
        if (layer->ops->saved_count)
            total += network_aligned(layer->ops->saved_count(layer, capacity));
    }
    tape->arena = network_floats_new(total);
    tape->own_totals = network_floats_new(network->totals);
    tape->totals = tape->own_totals;
    return tape;
}

struct network_tape *network_tape_free(struct network_tape *tape)
{
    if (!tape)
        return NULL;
    free(tape->arena);
    free(tape->own_totals);
    free(tape);
    return NULL;
}

void network_tape_draw(struct network_tape *tape, const struct layer_draw *draw)
{
    tape->training = true;
    tape->draw = *draw;
}

void network_tape_use_totals(struct network_tape *tape, float *totals)
{
    tape->totals = totals;
}

struct network_workspace *network_workspace_new(const struct network *network, int capacity)
{
    struct network_workspace *workspace = mem_zalloc(sizeof(*workspace));
    size_t total = 0, scratch = 0;
    workspace->capacity = capacity;
    for (int i = 0; i < network->count; i++) {
        const struct layer *layer = &network->layers[i];
        workspace->gradient_offset[i] = total;
        total += network_aligned((size_t)capacity * shape_sample(&layer->out));
        size_t need = layer->ops->scratch_count ? layer->ops->scratch_count(layer, capacity) : 0;
        scratch = need > scratch ? need : scratch;
    }
    workspace->scratch_offset = total;
    workspace->arena = network_floats_new(total + scratch);
    return workspace;
}

struct network_workspace *network_workspace_free(struct network_workspace *workspace)
{
    if (!workspace)
        return NULL;
    free(workspace->arena);
    free(workspace);
    return NULL;
}

/* ---- Sums over the whole batch */

int network_next_wide(const struct network *network, int layer)
{
    while (layer < network->count && !network->layers[layer].ops->sums)
        layer++;
    return layer;
}

size_t network_sum_count(const struct network *network, int layer)
{
    return network->layers[layer].ops->sums->count(&network->layers[layer]);
}

size_t network_total_count(const struct network *network)
{
    return network->totals;
}

/* Returns the merged sums of a wide layer in `totals`, of the forward or of the backward pass. */
static float *total_of(const struct network *network, float *totals, int layer, bool back)
{
    return totals + network->total_offset[layer] +
           (back ? network_aligned(network_sum_count(network, layer)) : 0);
}

void network_merge(const struct network *network, int layer, bool back, const float *sums,
                   size_t parts, float *totals)
{
    const struct layer *of = &network->layers[layer];
    float *total = total_of(network, totals, layer, back);
    (back ? of->ops->sums->merge_back : of->ops->sums->merge)(of, sums, parts, total);
}

void network_learn(const struct network *network, const float *totals)
{
    for (int i = network_next_wide(network, 0); i < network->count;
         i = network_next_wide(network, i + 1))
        network->layers[i].ops->sums->learn(&network->layers[i], network->params,
                                            totals + network->total_offset[i]);
}

/* ---- The passes */

static const float *tensor_data(const struct network_tape *tape, int tensor)
{
    return tensor == NETWORK_INPUT ? tape->input : tape->arena + tape->output_offset[tensor - 1];
}

static struct layer_pass pass_of(const struct network *network, struct network_tape *tape,
                                 struct network_workspace *workspace, int i)
{
    struct layer_pass pass = {
        .kernels = kernels_best(),
        .params = network->params,
        .packed = network->packed + network->packed_offset[i],
        .saved = tape->arena + tape->saved_offset[i],
        .scratch = workspace->arena + workspace->scratch_offset,
        .draw = tape->training ? &tape->draw : NULL,
    };
    if (tape->training && network->layers[i].ops->sums) {
        pass.total = total_of(network, tape->totals, i, false);
        pass.total_back = total_of(network, tape->totals, i, true);
    }
    return pass;
}

void network_start(const struct network *network, struct network_tape *tape,
                   struct network_workspace *workspace, const float *input, int n)
{
    if (n > tape->capacity || n > workspace->capacity)
        mem_panic("a part of %d samples is larger than its tape of %d or its workspace of %d", n,
                  tape->capacity, workspace->capacity);
    tape->n = n;
    tape->input = input;
}

void network_forward_layers(const struct network *network, struct network_tape *tape,
                            struct network_workspace *workspace, int first, int last)
{
    for (int i = first; i < last; i++) {
        const struct layer *layer = &network->layers[i];
        const float *in[LAYER_INPUTS_MAX] = {tensor_data(tape, layer->input[0]),
                                             tensor_data(tape, layer->input[1])};
        struct layer_pass pass = pass_of(network, tape, workspace, i);
        layer->ops->forward(layer, &pass, tape->n, in, tape->arena + tape->output_offset[i]);
    }
}

void network_forward_sums(const struct network *network, struct network_tape *tape,
                          struct network_workspace *workspace, int layer, float *ret_sums)
{
    const struct layer *of = &network->layers[layer];
    struct layer_pass pass = pass_of(network, tape, workspace, layer);
    of->ops->sums->forward(of, &pass, tape->n, tensor_data(tape, of->input[0]), ret_sums);
}

const float *network_output(const struct network *network, const struct network_tape *tape)
{
    return tensor_data(tape, network->count);
}

/* Computes and merges the sums of a wide layer for a batch that has only this part. */
static void pass_merge_sums(const struct network *network, struct network_tape *tape,
                            struct network_workspace *workspace, int layer, bool back,
                            const float *d_output)
{
    _cleanup_free_ float *sums = mem_calloc(network_sum_count(network, layer), sizeof(*sums));
    if (back)
        network_backward_sums(network, tape, workspace, d_output, layer, sums);
    else
        network_forward_sums(network, tape, workspace, layer, sums);
    network_merge(network, layer, back, sums, 1, tape->totals);
}

const float *network_forward(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *input, int n)
{
    network_start(network, tape, workspace, input, n);
    for (int first = 0, last; first < network->count; first = last) {
        if (tape->training && network->layers[first].ops->sums)
            pass_merge_sums(network, tape, workspace, first, false, NULL);
        last = network_next_wide(network, first + 1);
        network_forward_layers(network, tape, workspace, first, last);
    }
    return network_output(network, tape);
}

/* Returns the gradient of the output of a layer. For the last layer, that is d_output. */
static const float *gradient_of_output(const struct network *network,
                                       const struct network_workspace *workspace,
                                       const float *d_output, int layer)
{
    return layer == network->count - 1 ? d_output
                                       : workspace->arena + workspace->gradient_offset[layer];
}

void network_backward_sums(const struct network *network, struct network_tape *tape,
                           struct network_workspace *workspace, const float *d_output, int layer,
                           float *ret_sums)
{
    const struct layer *of = &network->layers[layer];
    struct layer_pass pass = pass_of(network, tape, workspace, layer);
    of->ops->sums->backward(of, &pass, tape->n, tensor_data(tape, of->input[0]),
                            tensor_data(tape, layer + 1),
                            gradient_of_output(network, workspace, d_output, layer), ret_sums);
}

static void layer_backward(const struct network *network, struct network_tape *tape,
                           struct network_workspace *workspace, const float *d_output,
                           float *gradients, float *d_input, int i)
{
    const struct layer *layer = &network->layers[i];
    const float *in[LAYER_INPUTS_MAX];
    float *d_in[LAYER_INPUTS_MAX] = {0};
    struct layer_pass pass = pass_of(network, tape, workspace, i);
    pass.gradients = gradients;
    pass.need_input_gradient = d_input || layer->input[0] != NETWORK_INPUT;
    for (int j = 0; j < layer->ops->inputs; j++) {
        int tensor = layer->input[j];
        in[j] = tensor_data(tape, tensor);
        d_in[j] = tensor == NETWORK_INPUT
                      ? d_input
                      : workspace->arena + workspace->gradient_offset[tensor - 1];
    }
    layer->ops->backward(layer, &pass, tape->n, in, tensor_data(tape, i + 1),
                         gradient_of_output(network, workspace, d_output, i), d_in,
                         network->accumulate[i]);
}

void network_backward_layers(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *d_output,
                             float *gradients, int first, int last)
{
    for (int i = last - 1; i >= first; i--)
        if (network->reached[i + 1])
            layer_backward(network, tape, workspace, d_output, gradients, NULL, i);
}

void network_backward_to_input(const struct network *network, struct network_tape *tape,
                               struct network_workspace *workspace, const float *d_output,
                               float *gradients, float *d_input)
{
    for (int i = network->count - 1; i >= 0; i--) {
        if (!network->reached[i + 1])
            continue;
        if (tape->training && network->layers[i].ops->sums)
            pass_merge_sums(network, tape, workspace, i, true, d_output);
        layer_backward(network, tape, workspace, d_output, gradients, d_input, i);
    }
}

void network_backward(const struct network *network, struct network_tape *tape,
                      struct network_workspace *workspace, const float *d_output, float *gradients)
{
    network_backward_to_input(network, tape, workspace, d_output, gradients, NULL);
}
