/* A network: a list of layers in the order in which they run. A layer reads one or two tensors,
 * which are outputs of earlier layers or the input of the network; a residual block ends with a
 * layer that reads two. A model (src/models/) builds the network once, with its own struct params.
 * After that the network is read-only except for the packed weights, which the caller must update
 * with network_pack() after every change of the parameters. The team (train/team/), the recommender
 * and the predictions of all models run the passes of a network.
 *
 * A batch is computed in parts that fit in the cache. Each part has a tape, which keeps the
 * activations until the backward pass. A workspace has memory for one pass: the gradients of
 * activations, and the scratch memory of the layers. A thread can use one workspace for several
 * parts, one after another. */
#ifndef TRAINYARD_TRAIN_NETWORK_NETWORK_H
#define TRAINYARD_TRAIN_NETWORK_NETWORK_H

#include "train/layers/layer.h"

enum {
    NETWORK_LAYERS_MAX = 256,
    NETWORK_INPUT = 0, /* number of the tensor that is the input of the network */
};

struct network;

/* Creates a network without layers. `input` is the shape of one sample. Layers declare their
 * parameters in `params`, which must outlive the network. */
struct network *network_new(struct params *params, struct shape input);
struct network *network_free(struct network *network); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(network)

/* Sets the precision of layers that are added later. The default is float32. */
void network_set_precision(struct network *network, enum precision precision);

/* Each of these functions adds a layer and returns the number of its output tensor. Later calls
 * take this number, or NETWORK_INPUT, as `input` or `other`. Names must be unique. A convolution,
 * also a depthwise one, pads its input with (kernel − 1) / 2 pixels of zeros on every side. After
 * an error these functions add nothing and return NETWORK_INPUT; network_finish() reports the first
 * error. */
int network_conv(struct network *network, const char *name, int input, int channels, int kernel,
                 int stride);
int network_depthwise(struct network *network, const char *name, int input, int kernel, int stride);
int network_dense(struct network *network, const char *name, int input, int channels);
/* Adds one bias per channel. */
int network_bias(struct network *network, const char *name, int input, bool relu);
int network_dropout(struct network *network, const char *name, int input, float rate);
int network_group_norm(struct network *network, const char *name, int input, int groups, bool relu);
int network_batch_norm(struct network *network, const char *name, int input, bool relu);
int network_relu(struct network *network, const char *name, int input);
int network_add(struct network *network, const char *name, int input, int other);
int network_add_relu(struct network *network, const char *name, int input, int other);
int network_max_pool(struct network *network, const char *name, int input, int window, int stride);
int network_average_pool(struct network *network, const char *name, int input, int window,
                         int stride); /* window 0: the whole input */
int network_fm(struct network *network, const char *name, int input,
               int fields); /* factorization machine: products of all pairs of fields */
int network_l2_normalise(struct network *network, const char *name, int input);

/* Ends the building of the network: declares its parameters and allocates them (params_allocate()).
 * The output of the last layer is the output of the network. Returns 0, or the first error of the
 * functions that add layers or of this function. */
int network_finish(struct network *network, struct err *err);

const struct shape *network_input_shape(const struct network *network);
const struct shape *network_output_shape(const struct network *network);
size_t network_layer_count(const struct network *network);
const struct layer *network_layer(const struct network *network, int layer); /* counted from 0 */

/* Copies the weights into the layout that the kernels read. Must be called after every change of
 * the parameters, before the next pass. */
void network_pack(struct network *network);
/* Packs part `part` of `parts` parts of the weights. Several threads may pack different parts at
 * the same time. */
void network_pack_part(struct network *network, int part, int parts);

/* Creates a tape for parts of at most `capacity` samples. The network must be finished. The caller
 * frees the tape. */
struct network_tape *network_tape_new(const struct network *network, int capacity);
struct network_tape *network_tape_free(struct network_tape *tape); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(network_tape)

/* Creates a workspace for parts of at most `capacity` samples. The caller frees it. */
struct network_workspace *network_workspace_new(const struct network *network, int capacity);
/* NULL-safe; returns NULL. */
struct network_workspace *network_workspace_free(struct network_workspace *workspace);
DEFINE_CLEANUP(network_workspace)

/* Makes all later passes with this tape training passes, whose random numbers depend on `draw`. The
 * training of a network with dropout or batch norm must call it before each forward pass. A tape
 * for which it was never called runs evaluation passes: dropout drops nothing, and batch norm uses
 * its running statistics. */
void network_tape_draw(struct network_tape *tape, const struct layer_draw *draw);

/* Runs the forward pass of n samples. If a backward pass with the same tape follows, `input` must
 * stay valid until the end of that pass. Returns the output. The tape owns it, and the next forward
 * pass with this tape overwrites it. If n is above the capacity of the tape or the workspace,
 * aborts the process. */
const float *network_forward(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *input, int n);

/* Runs the backward pass of the samples in the tape. `d_output` is the gradient of the loss with
 * respect to the output. Adds to `gradients`, which has the layout of params->gradients. */
void network_backward(const struct network *network, struct network_tape *tape,
                      struct network_workspace *workspace, const float *d_output, float *gradients);
/* Like network_backward(), but also sets d_input, the gradient with respect to the input, for all
 * samples in the tape. For models whose input is trained, too, such as rows of an embedding
 * table. */
void network_backward_to_input(const struct network *network, struct network_tape *tape,
                               struct network_workspace *workspace, const float *d_output,
                               float *gradients, float *d_input);

/* ---- A pass in pieces, for a team (train/team/)
 *
 * A wide layer (batch norm) needs sums over the whole batch. All parts run up to the wide layer.
 * Then the sums of each part are computed and merged, and all parts continue. network_forward() and
 * network_backward() do the same for a batch of one part in a training pass. */

/* Returns the first wide layer from `layer` on, or the number of layers if there is none. */
int network_next_wide(const struct network *network, int layer);
/* Returns the number of floats that each part computes as the sums of a wide layer. */
size_t network_sum_count(const struct network *network, int layer);

/* Returns the number of floats for the merged sums of all wide layers, forward and backward. All
 * parts of a batch share these floats. */
size_t network_total_count(const struct network *network);
/* Makes passes with this tape read the merged sums from `totals`, which must outlive the tape. */
void network_tape_use_totals(struct network_tape *tape, float *totals);
/* Merges the sums of a wide layer into the floats of this layer in `totals`. `sums` has
 * network_sum_count() floats for each of `parts` parts, in the order of the batch. `back`: they are
 * sums of the backward pass. */
void network_merge(const struct network *network, int layer, bool back, const float *sums,
                   size_t parts, float *totals);
/* Called after a successful step. Updates the running statistics of all wide layers, which are
 * parameters, from the merged sums of the forward pass. */
void network_learn(const struct network *network, const float *totals);

/* A forward pass in pieces. network_start() begins it. Each call of network_forward_layers() runs
 * the layers `first` to `last` - 1. network_forward_sums() computes the sums of a wide layer for
 * the samples of this part. network_output() returns the output after the last layer has run. */
void network_start(const struct network *network, struct network_tape *tape,
                   struct network_workspace *workspace, const float *input, int n);
void network_forward_layers(const struct network *network, struct network_tape *tape,
                            struct network_workspace *workspace, int first, int last);
void network_forward_sums(const struct network *network, struct network_tape *tape,
                          struct network_workspace *workspace, int layer, float *ret_sums);
const float *network_output(const struct network *network, const struct network_tape *tape);

/* A backward pass in pieces. Each call of network_backward_layers() runs the layers `last` - 1 to
 * `first` and adds to `gradients`. network_backward_sums() computes the sums of a wide layer for
 * the samples of this part. A part must use the same workspace in all calls of one backward pass.
 * No other part may use this workspace until the pass is complete. */
void network_backward_layers(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *d_output,
                             float *gradients, int first, int last);
void network_backward_sums(const struct network *network, struct network_tape *tape,
                           struct network_workspace *workspace, const float *d_output, int layer,
                           float *ret_sums);

/* Finds the parameter entries that the layers `first` to `last` - 1 have declared. They are the
 * entries *ret_first to *ret_last - 1 of the params. */
void network_params(const struct network *network, int first, int last, size_t *ret_first,
                    size_t *ret_last);

#endif
