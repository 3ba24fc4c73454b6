/* The network: building, memory and the two passes; see network.h. */
#include "train/network.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { FLOATS_ALIGN = 16 };

struct network {
    struct params *params;
    struct shape input;
    struct layer layers[NETWORK_LAYERS_MAX];
    int count;
    struct err error; /* the first mistake in building */
    bool finished;
    float *packed;
    size_t packed_offset[NETWORK_LAYERS_MAX];
};

/* One mapping for all activations, one offset a tensor: tensor i + 1 is what layer i makes. */
struct tape {
    int capacity, n;
    const float *input;
    bool training;
    struct layer_draw draw;
    float *arena;
    size_t output_offset[NETWORK_LAYERS_MAX], saved_offset[NETWORK_LAYERS_MAX];
};

struct workspace {
    int capacity;
    float *arena;
    size_t gradient_offset[NETWORK_LAYERS_MAX];
    size_t scratch_offset;
};

static float *floats_new(size_t count)
{
    void *memory = NULL;
    size_t size = count * sizeof(float), align = size >= 2 << 20 ? 2 << 20 : 64;
    if (posix_memalign(&memory, align, size ? size : align) != 0)
        mem_panic("out of memory: %zu bytes for activations", size);
    (void)madvise(memory, size, MADV_HUGEPAGE); /* advice: a refusal costs speed */
    memset(memory, 0, size);
    return memory;
}

static size_t aligned(size_t floats)
{
    return (floats + FLOATS_ALIGN - 1) / FLOATS_ALIGN * FLOATS_ALIGN;
}

struct network *network_new(struct params *params, struct shape input)
{
    struct network *network = mem_zalloc(sizeof(*network));
    network->params = params;
    network->input = input;
    network->input.n = 1;
    return network;
}

struct network *network_free(struct network *network)
{
    if (!network)
        return NULL;
    free(network->packed);
    free(network);
    return NULL;
}

static const struct shape *tensor_shape(const struct network *network, int tensor)
{
    return tensor == NETWORK_INPUT ? &network->input : &network->layers[tensor - 1].out;
}

static int add(struct network *network, const char *name, struct layer layer)
{
    struct err *err = &network->error;
    if (err->code)
        return NETWORK_INPUT;
    if (network->finished || network->count == NETWORK_LAYERS_MAX) {
        err_set(err, ERR_INVALID, "layer '%s': %s", name,
                network->finished ? "the network is finished" : "too many layers");
        return NETWORK_INPUT;
    }
    for (int i = 0; i < layer.ops->inputs; i++)
        if (layer.input[i] < 0 || layer.input[i] > network->count) {
            err_set(err, ERR_INVALID, "layer '%s': input %d is not made before it", name,
                    layer.input[i]);
            return NETWORK_INPUT;
        }
    for (int i = 0; i < network->count; i++)
        if (str_eq(network->layers[i].name, name)) {
            err_set(err, ERR_INVALID, "layer '%s' is there twice", name);
            return NETWORK_INPUT;
        }
    layer.in = *tensor_shape(network, layer.input[0]);
    const struct shape *other =
        layer.ops->inputs > 1 ? tensor_shape(network, layer.input[1]) : NULL;
    if (!str_copy(layer.name, sizeof(layer.name), name))
        err_set(err, ERR_INVALID, "layer '%s': the name is too long", name);
    else if (!layer.ops->reads_pictures && layer.input[0] == NETWORK_INPUT)
        err_set(err, ERR_UNSUPPORTED, "layer '%s': a %s layer cannot stand on the picture itself",
                name, layer.ops->kind);
    else if (other && !shape_same_sample(&layer.in, other))
        err_set(err, ERR_INVALID, "layer '%s': %d×%d×%d and %d×%d×%d cannot be added", name,
                layer.in.h, layer.in.w, layer.in.c, other->h, other->w, other->c);
    else if (layer.ops->infer(&layer, err) < 0)
        err_wrap(err, "layer '%s'", name);
    if (err->code)
        return NETWORK_INPUT;
    network->layers[network->count++] = layer;
    return network->count;
}

int network_conv(struct network *network, const char *name, int input, int channels, int kernel,
                 int stride)
{
    return add(network, name,
               (struct layer){.ops = &layer_conv,
                              .input = {input},
                              .conv = {channels, kernel, stride, (kernel - 1) / 2}});
}

int network_dense(struct network *network, const char *name, int input, int channels)
{
    return add(network, name,
               (struct layer){.ops = &layer_dense, .input = {input}, .dense = {channels}});
}

int network_bias(struct network *network, const char *name, int input, bool relu)
{
    return add(network, name, (struct layer){.ops = &layer_bias, .input = {input}, .bias = {relu}});
}

int network_dropout(struct network *network, const char *name, int input, float rate)
{
    return add(network, name,
               (struct layer){.ops = &layer_dropout, .input = {input}, .dropout = {rate}});
}

int network_group_norm(struct network *network, const char *name, int input, int groups, bool relu)
{
    return add(network, name,
               (struct layer){.ops = &layer_group_norm, .input = {input}, .norm = {groups, relu}});
}

int network_relu(struct network *network, const char *name, int input)
{
    return add(network, name, (struct layer){.ops = &layer_relu, .input = {input}});
}

int network_add_relu(struct network *network, const char *name, int input, int other)
{
    return add(network, name, (struct layer){.ops = &layer_add_relu, .input = {input, other}});
}

int network_max_pool(struct network *network, const char *name, int input, int window, int stride)
{
    return add(network, name,
               (struct layer){.ops = &layer_max_pool, .input = {input}, .pool = {window, stride}});
}

int network_average_pool(struct network *network, const char *name, int input, int window,
                         int stride)
{
    return add(
        network, name,
        (struct layer){.ops = &layer_average_pool, .input = {input}, .pool = {window, stride}});
}

int network_l2_normalise(struct network *network, const char *name, int input)
{
    return add(network, name, (struct layer){.ops = &layer_l2_normalise, .input = {input}});
}

int network_finish(struct network *network, struct err *err)
{
    if (network->error.code)
        return err_set(err, network->error.code, "%s", network->error.message);
    if (network->count == 0)
        return err_set(err, ERR_INVALID, "a network needs at least one layer");
    size_t packed = 0;
    for (int i = 0; i < network->count; i++) {
        struct layer *layer = &network->layers[i];
        if (layer->ops->declare)
            layer->ops->declare(layer, network->params);
        network->packed_offset[i] = packed;
        if (layer->ops->packed_count)
            packed += aligned(layer->ops->packed_count(layer));
    }
    int result = params_allocate(network->params, err);
    if (result < 0)
        return result;
    network->packed = floats_new(packed);
    network->finished = true;
    return 0;
}

const struct shape *network_input_shape(const struct network *network)
{
    return &network->input;
}

const struct shape *network_output_shape(const struct network *network)
{
    return tensor_shape(network, network->count);
}

size_t network_layer_count(const struct network *network)
{
    return (size_t)network->count;
}

void network_pack(struct network *network)
{
    for (int i = 0; i < network->count; i++)
        if (network->layers[i].ops->pack)
            network->layers[i].ops->pack(&network->layers[i], network->params,
                                         network->packed + network->packed_offset[i]);
}

struct tape *tape_new(const struct network *network, int capacity)
{
    struct tape *tape = mem_zalloc(sizeof(*tape));
    size_t total = 0;
    tape->capacity = capacity;
    for (int i = 0; i < network->count; i++) {
        const struct layer *layer = &network->layers[i];
        tape->output_offset[i] = total;
        total += aligned((size_t)capacity * shape_sample(&layer->out));
        tape->saved_offset[i] = total;
        if (layer->ops->saved_count)
            total += aligned(layer->ops->saved_count(layer, capacity));
    }
    tape->arena = floats_new(total);
    return tape;
}

struct tape *tape_free(struct tape *tape)
{
    if (!tape)
        return NULL;
    free(tape->arena);
    free(tape);
    return NULL;
}

void tape_draw(struct tape *tape, const struct layer_draw *draw)
{
    tape->training = true;
    tape->draw = *draw;
}

struct workspace *workspace_new(const struct network *network, int capacity)
{
    struct workspace *workspace = mem_zalloc(sizeof(*workspace));
    size_t total = 0, scratch = 0;
    workspace->capacity = capacity;
    for (int i = 0; i < network->count; i++) {
        const struct layer *layer = &network->layers[i];
        workspace->gradient_offset[i] = total;
        total += aligned((size_t)capacity * shape_sample(&layer->out));
        size_t need = layer->ops->scratch_count ? layer->ops->scratch_count(layer, capacity) : 0;
        scratch = need > scratch ? need : scratch;
    }
    workspace->scratch_offset = total;
    workspace->arena = floats_new(total + scratch);
    return workspace;
}

struct workspace *workspace_free(struct workspace *workspace)
{
    if (!workspace)
        return NULL;
    free(workspace->arena);
    free(workspace);
    return NULL;
}

static const float *tensor_data(const struct tape *tape, int tensor)
{
    return tensor == NETWORK_INPUT ? tape->input : tape->arena + tape->output_offset[tensor - 1];
}

static struct layer_pass pass_of(const struct network *network, struct tape *tape,
                                 struct workspace *workspace, int i)
{
    return (struct layer_pass){
        .kernels = kernels_best(),
        .params = network->params,
        .packed = network->packed + network->packed_offset[i],
        .saved = tape->arena + tape->saved_offset[i],
        .scratch = workspace->arena + workspace->scratch_offset,
        .draw = tape->training ? &tape->draw : NULL,
    };
}

const float *network_forward(const struct network *network, struct tape *tape,
                             struct workspace *workspace, const float *input, int n)
{
    if (n > tape->capacity || n > workspace->capacity)
        mem_panic("a part of %d samples is larger than its tape of %d", n, tape->capacity);
    tape->n = n;
    tape->input = input;
    for (int i = 0; i < network->count; i++) {
        const struct layer *layer = &network->layers[i];
        const float *in[LAYER_INPUTS_MAX] = {tensor_data(tape, layer->input[0]),
                                             tensor_data(tape, layer->input[1])};
        struct layer_pass pass = pass_of(network, tape, workspace, i);
        layer->ops->forward(layer, &pass, n, in, tape->arena + tape->output_offset[i]);
    }
    return tensor_data(tape, network->count);
}

void network_backward_to_input(const struct network *network, struct tape *tape,
                               struct workspace *workspace, const float *d_output, float *gradients,
                               float *d_input)
{
    /* The first layer to reach a tensor on the way back sets its gradient, the others add. */
    bool reached[NETWORK_LAYERS_MAX + 1] = {false};
    const float *d_out = d_output;
    for (int i = network->count - 1; i >= 0; i--) {
        const struct layer *layer = &network->layers[i];
        if (i < network->count - 1) {
            if (!reached[i + 1])
                continue; /* nobody uses it */
            d_out = workspace->arena + workspace->gradient_offset[i];
        }
        const float *in[LAYER_INPUTS_MAX];
        float *d_in[LAYER_INPUTS_MAX] = {0};
        bool accumulate[LAYER_INPUTS_MAX] = {false};
        struct layer_pass pass = pass_of(network, tape, workspace, i);
        pass.gradients = gradients;
        pass.need_input_gradient = d_input || layer->input[0] != NETWORK_INPUT;
        for (int j = 0; j < layer->ops->inputs; j++) {
            int tensor = layer->input[j];
            in[j] = tensor_data(tape, tensor);
            d_in[j] = tensor == NETWORK_INPUT
                          ? d_input
                          : workspace->arena + workspace->gradient_offset[tensor - 1];
            accumulate[j] = reached[tensor];
            reached[tensor] = true;
        }
        layer->ops->backward(layer, &pass, tape->n, in, tensor_data(tape, i + 1), d_out, d_in,
                             accumulate);
    }
}

void network_backward(const struct network *network, struct tape *tape, struct workspace *workspace,
                      const float *d_output, float *gradients)
{
    network_backward_to_input(network, tape, workspace, d_output, gradients, NULL);
}
