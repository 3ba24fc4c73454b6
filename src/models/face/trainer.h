/* One worker's part of training a face model: the passes, the loss over the gathered batch, the
 * reduced gradient and the step of the optimizer. N workers equal one: every worker computes the
 * same loss from the same embeddings, and the sum of all gradients is the gradient of that loss,
 * added up so that the grouping does not count (exact_sum.h).
 * Called by face_fit with prepared pictures; knows nothing of data sets and files. */
#ifndef TRAINYARD_MODELS_FACE_TRAINER_H
#define TRAINYARD_MODELS_FACE_TRAINER_H

#include "models/face/model.h"
#include "train/network/loss_triplet.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct face_trainer_options {
    int batch; /* global: pictures of all workers */
    int threads;
    struct triplet_config triplet;
    enum optimizer_kind optimizer;
    float weight_decay;
    float clip; /* longest gradient; 0: any */
    struct schedule schedule;
    struct reducer *reducer; /* must outlive the trainer */
};

struct face_trainer;

/* `model` must outlive the trainer. A batch smaller than the number of workers is refused. */
int face_trainer_new(const struct face_trainer_options *options, struct face_model *model,
                     struct face_trainer **ret, struct err *err);
struct face_trainer *face_trainer_free(struct face_trainer *trainer); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(face_trainer)

struct optimizer *face_trainer_optimizer(struct face_trainer *trainer);

/* See team_learned(). */
float *face_trainer_learned(struct face_trainer *trainer, size_t *ret_count);

/* The reducer's rank or size is another one now: so is the share. */
int face_trainer_regroup(struct face_trainer *trainer, struct err *err);

/* Which pictures of the global batch are this worker's: by position, so that a batch does not
 * depend on the number of workers. */
void face_trainer_share(const struct face_trainer *trainer, int *ret_first, int *ret_count);

struct face_trainer_step {
    struct triplet_result loss; /* of the global batch, before the step */
    float rate;                 /* learning rate used */
    bool stop;                  /* some worker wants to end: all do, after this step */
    bool join_requested;        /* somebody waits to be let in */
};

/* `step` counts from 1. `pictures` are this worker's prepared ones; `labels` those of the whole
 * batch; `stop` asks all workers to end. The parameters are the same on all workers before and
 * after. */
int face_trainer_step(struct face_trainer *trainer, uint64_t step, const float *pictures,
                      const int *labels, bool stop, struct face_trainer_step *ret, struct err *err);

#endif
