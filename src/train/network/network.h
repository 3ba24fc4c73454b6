/* A network: layers in the order they run, each reading the output of earlier ones, so that
 * residual blocks are just a layer with two inputs. A model builds it once, with parameters of its
 * own; after that it is read-only but for the packed weights, which network_pack() renews whenever
 * the values changed.
 *
 * A batch is worked off in parts that fit in the cache: each part has a tape (the activations,
 * which must live until the way back) and every thread a workspace (gradients of activations and
 * scratch, which need not). */
#ifndef TRAINYARD_TRAIN_NETWORK_H
#define TRAINYARD_TRAIN_NETWORK_H

#include "train/layers/layer.h"

enum { NETWORK_LAYERS_MAX = 256, NETWORK_INPUT = 0 };

struct network;

/* `input` is the shape of one sample. Layers declare into `params`, which must outlive it. */
struct network *network_new(struct params *params, struct shape input);
struct network *network_free(struct network *network); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(network)

/* Of the layers added after this; float32 if never called. */
void network_set_precision(struct network *network, enum precision precision);

/* Each adds a layer and returns the number of its output, to be read by later layers. The first
 * mistake is kept and reported by network_finish(). Names are unique. */
int network_conv(struct network *network, const char *name, int input, int channels, int kernel,
                 int stride);
int network_depthwise(struct network *network, const char *name, int input, int kernel, int stride);
int network_dense(struct network *network, const char *name, int input, int channels);
int network_bias(struct network *network, const char *name, int input, bool relu); /* a channel */
int network_dropout(struct network *network, const char *name, int input, float rate);
int network_group_norm(struct network *network, const char *name, int input, int groups, bool relu);
int network_batch_norm(struct network *network, const char *name, int input, bool relu);
int network_relu(struct network *network, const char *name, int input);
int network_add(struct network *network, const char *name, int input, int other);
int network_add_relu(struct network *network, const char *name, int input, int other);
int network_max_pool(struct network *network, const char *name, int input, int window, int stride);
int network_average_pool(struct network *network, const char *name, int input, int window,
                         int stride); /* window 0: the whole picture */
int network_fm(struct network *network, const char *name, int input, int fields); /* pairs */
int network_l2_normalise(struct network *network, const char *name, int input);

/* Declares the parameters and makes the arenas (params_allocate); the last layer is the output. */
int network_finish(struct network *network, struct err *err);

const struct shape *network_input_shape(const struct network *network);
const struct shape *network_output_shape(const struct network *network);
size_t network_layer_count(const struct network *network);
const struct layer *network_layer(const struct network *network, int layer); /* from 0 */

/* After every change of the parameters, before the next pass. */
void network_pack(struct network *network);
/* The same in parts, numbered from 0, which may be done at the same time. */
void network_pack_part(struct network *network, int part, int parts);

struct network_tape *network_tape_new(const struct network *network, int capacity); /* samples */
struct network_tape *network_tape_free(struct network_tape *tape);
DEFINE_CLEANUP(network_tape)

struct network_workspace *network_workspace_new(const struct network *network, int capacity);
struct network_workspace *network_workspace_free(struct network_workspace *workspace);
DEFINE_CLEANUP(network_workspace)

/* The next pass with this tape is training, and what it leaves to chance is drawn from this. */
void network_tape_draw(struct network_tape *tape, const struct layer_draw *draw);

/* `input` (n samples) must live until network_backward() of the same tape. Returns the output
 * inside the tape. */
const float *network_forward(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *input, int n);

/* Adds to `gradients`, an arena laid out like params->gradients. */
void network_backward(const struct network *network, struct network_tape *tape,
                      struct network_workspace *workspace, const float *d_output, float *gradients);
/* The same, and sets d_input (n samples), for what stands before the network: embeddings. */
void network_backward_to_input(const struct network *network, struct network_tape *tape,
                               struct network_workspace *workspace, const float *d_output,
                               float *gradients, float *d_input);

/* ---- A pass in pieces, for a team
 *
 * A layer that looks at the whole batch (batch norm) cannot go on before the sums of all parts are
 * there. Up to it all parts run; each tells its sums, they are merged, and all parts go on. The
 * whole passes above do the same with a batch of one part. */

/* The first such layer from `layer` on, or the number of layers. */
int network_next_wide(const struct network *network, int layer);
size_t network_sum_count(const struct network *network, int layer); /* floats of one part */

/* Merged sums of all such layers, forward and back; parts that share a batch share them. */
size_t network_total_count(const struct network *network);
void network_tape_use_totals(struct network_tape *tape, float *totals); /* must outlive the tape */
void network_merge(const struct network *network, int layer, bool back, const float *sums,
                   size_t parts, float *totals);
/* After a step that succeeded: running statistics follow the batch. */
void network_learn(const struct network *network, const float *totals);

/* The way forward: start, then layers `first` to `last` - 1, again and again. */
void network_start(const struct network *network, struct network_tape *tape,
                   struct network_workspace *workspace, const float *input, int n);
void network_forward_layers(const struct network *network, struct network_tape *tape,
                            struct network_workspace *workspace, int first, int last);
void network_forward_sums(const struct network *network, struct network_tape *tape,
                          struct network_workspace *workspace, int layer, float *ret_sums);
const float *network_output(const struct network *network, const struct network_tape *tape);

/* The way back, layers `last` - 1 to `first`; the workspace is one part's until it is done. */
void network_backward_layers(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *d_output,
                             float *gradients, int first, int last);
void network_backward_sums(const struct network *network, struct network_tape *tape,
                           struct network_workspace *workspace, const float *d_output, int layer,
                           float *ret_sums);

/* The entries of params that layers `first` to `last` - 1 declared: they lie side by side. */
void network_params(const struct network *network, int first, int last, size_t *ret_first,
                    size_t *ret_last);

#endif
