/* One worker's part of training a face model: the passes, the loss over the embeddings of all
 * workers, the summed gradient and the optimizer step. N workers compute the same result as one
 * worker: every worker computes the same loss from the embeddings of all workers, and the sum of
 * all workers' gradients is the gradient of that loss. If each worker's share is a whole number of
 * parts, that sum has the same bits for any number of workers (train/team/team.h). face_fit()
 * passes prepared pictures; the trainer reads no data sets and no files. */
#ifndef TRAINYARD_MODELS_FACE_TRAINER_H
#define TRAINYARD_MODELS_FACE_TRAINER_H

#include "models/face/model.h"
#include "train/network/loss_triplet.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct face_trainer_options {
    int batch; /* pictures per step, of all workers */
    int threads;
    struct triplet_config triplet;
    enum optimizer_kind optimizer;
    float weight_decay;
    float clip; /* largest norm of the gradient; 0: no limit */
    struct schedule schedule;
    struct reducer *reducer; /* must outlive the trainer */
};

struct face_trainer;

/* `model` must outlive the trainer. Returns -ERR_INVALID if the batch is smaller than the number of
 * workers or larger than TRIPLET_BATCH_MAX. The caller frees *ret. */
int face_trainer_new(const struct face_trainer_options *options, struct face_model *model,
                     struct face_trainer **ret, struct err *err);
struct face_trainer *face_trainer_free(struct face_trainer *trainer); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_trainer)

/* Returns the optimizer, which the trainer owns. Its state is part of a checkpoint. */
struct optimizer *face_trainer_optimizer(struct face_trainer *trainer);

/* Returns the result of team_learned(), which is part of a checkpoint, too. */
float *face_trainer_learned(struct face_trainer *trainer, size_t *ret_count);

/* Computes the share of this worker again, after the rank of the worker or the number of workers
 * has changed. Returns -ERR_INVALID if the batch is smaller than the number of workers. */
int face_trainer_regroup(struct face_trainer *trainer, struct err *err);

/* Sets *ret_first and *ret_count to the pictures of the batch that belong to this worker, by their
 * position in the batch. The batch itself does not depend on the number of workers. */
void face_trainer_share(const struct face_trainer *trainer, int *ret_first, int *ret_count);

struct face_trainer_step {
    struct triplet_result loss; /* of the whole batch, before the parameters change */
    float rate;                 /* learning rate used */
    bool stop;                  /* a worker was asked to stop; equal on all workers */
    bool join_requested;        /* a new worker waits to join */
};

/* Runs step `step`, counted from 1, together with all other workers. `pictures` are the prepared
 * pictures of this worker; `labels` are the labels of the whole batch. `stop`: this worker was
 * asked to stop. The parameters are equal on all workers before and after the step. Returns
 * -ERR_INVALID, on all workers, if the loss is nan or infinite. */
int face_trainer_step(struct face_trainer *trainer, uint64_t step, const float *pictures,
                      const int *labels, bool stop, struct face_trainer_step *ret, struct err *err);

#endif
