/* A network: layers in the order in which they run. Each layer reads the outputs of earlier layers,
 * so a residual block is a layer with two inputs. A model builds the network once, with its own
 * parameters. After that the network is read-only except for the packed weights, which
 * network_pack() renews after every change of the parameters.
 *
 * A batch is computed in parts that fit in the cache. Each part has a tape: the activations, which
 * must live until the backward pass. Each thread has a workspace: gradients of activations and
 * scratch memory, which live only during a pass. */
#ifndef TRAINYARD_TRAIN_NETWORK_NETWORK_H
#define TRAINYARD_TRAIN_NETWORK_NETWORK_H

#include "train/layers/layer.h"

enum { NETWORK_LAYERS_MAX = 256, NETWORK_INPUT = 0 };

struct network;

/* `input` is the shape of one sample. Layers declare their parameters in `params`, which must
 * outlive the network. */
struct network *network_new(struct params *params, struct shape input);
struct network *network_free(struct network *network); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(network)

/* Sets the precision of layers that are added from now on. The default is float32. */
void network_set_precision(struct network *network, enum precision precision);

/* Each of these adds a layer and returns the number of its output, which later layers take as
 * input. Names must be unique. network_finish() reports the first mistake. */
int network_conv(struct network *network, const char *name, int input, int channels, int kernel,
                 int stride);
int network_depthwise(struct network *network, const char *name, int input, int kernel, int stride);
int network_dense(struct network *network, const char *name, int input, int channels);
/* one per channel */
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
               int fields); /* all pairs of fields */
int network_l2_normalise(struct network *network, const char *name, int input);

/* Declares the parameters and allocates them (params_allocate()). The last layer becomes the
 * output. */
int network_finish(struct network *network, struct err *err);

const struct shape *network_input_shape(const struct network *network);
const struct shape *network_output_shape(const struct network *network);
size_t network_layer_count(const struct network *network);
const struct layer *network_layer(const struct network *network, int layer); /* from 0 */

/* Must be called after every change of the parameters, before the next pass. */
void network_pack(struct network *network);
/* Does part `part` of `parts` of that work. Threads may do the parts at the same time. */
void network_pack_part(struct network *network, int part, int parts);

struct network_tape *network_tape_new(const struct network *network, int capacity); /* samples */
struct network_tape *network_tape_free(struct network_tape *tape);
DEFINE_CLEANUP(network_tape)

struct network_workspace *network_workspace_new(const struct network *network, int capacity);
struct network_workspace *network_workspace_free(struct network_workspace *workspace);
DEFINE_CLEANUP(network_workspace)

/* The next pass with this tape is a training pass, and its random draws depend on `draw`. */
void network_tape_draw(struct network_tape *tape, const struct layer_draw *draw);

/* Runs n samples forward. `input` must live until network_backward() of the same tape. Returns the
 * output, which lies inside the tape. */
const float *network_forward(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *input, int n);

/* Adds to `gradients`, an arena laid out like params->gradients. */
void network_backward(const struct network *network, struct network_tape *tape,
                      struct network_workspace *workspace, const float *d_output, float *gradients);
/* Like network_backward(), and also sets d_input (n samples), for embeddings in front of the
 * network. */
void network_backward_to_input(const struct network *network, struct network_tape *tape,
                               struct network_workspace *workspace, const float *d_output,
                               float *gradients, float *d_input);

/* ---- A pass in pieces, for a team
 *
 * A layer that sums over the whole batch (batch norm) needs the sums of all parts. All parts run up
 * to that layer; the sums of each part are computed and merged; then all parts go on. The passes
 * above do the same for a batch of one part. */

/* Returns the first such layer from `layer` on, or the number of layers. */
int network_next_wide(const struct network *network, int layer);
size_t network_sum_count(const struct network *network, int layer); /* floats per part */

/* Floats for the merged sums of all such layers, forward and backward. Parts of one batch share
 * them. */
size_t network_total_count(const struct network *network);
void network_tape_use_totals(struct network_tape *tape, float *totals); /* must outlive the tape */
void network_merge(const struct network *network, int layer, bool back, const float *sums,
                   size_t parts, float *totals);
/* Called after a successful step: updates the running statistics. */
void network_learn(const struct network *network, const float *totals);

/* A forward pass in pieces: start, then network_forward_layers() for layers `first` to `last` - 1,
 * repeatedly. */
void network_start(const struct network *network, struct network_tape *tape,
                   struct network_workspace *workspace, const float *input, int n);
void network_forward_layers(const struct network *network, struct network_tape *tape,
                            struct network_workspace *workspace, int first, int last);
void network_forward_sums(const struct network *network, struct network_tape *tape,
                          struct network_workspace *workspace, int layer, float *ret_sums);
const float *network_output(const struct network *network, const struct network_tape *tape);

/* A backward pass in pieces, through the layers `last` - 1 to `first`. The workspace belongs to one
 * part until its pass is complete. */
void network_backward_layers(const struct network *network, struct network_tape *tape,
                             struct network_workspace *workspace, const float *d_output,
                             float *gradients, int first, int last);
void network_backward_sums(const struct network *network, struct network_tape *tape,
                           struct network_workspace *workspace, const float *d_output, int layer,
                           float *ret_sums);

/* The parameter entries that layers `first` to `last` - 1 have declared: ret_first to ret_last - 1.
 */
void network_params(const struct network *network, int first, int last, size_t *ret_first,
                    size_t *ret_last);

#endif
