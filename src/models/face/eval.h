/* Measures how well a face model tells people apart, preferably people that it was not trained on.
 * The evaluation also measures how well the raw pixels of the same pairs of pictures tell people
 * apart, because a model that is not better than raw pixels has learned nothing. Called at the end
 * of training and by `trainer predict`. */
#ifndef TRAINYARD_MODELS_FACE_EVAL_H
#define TRAINYARD_MODELS_FACE_EVAL_H

#include "models/face/model.h"
#include "train/data/dataset.h"
#include "train/network/metrics.h"

struct face_eval_person {
    size_t person; /* index in the data set */
    size_t pictures;
    /* mean distance between the person's pictures; 0 for a person with fewer than two */
    double same;
    /* Mean, over the person's pictures, of the distance to the nearest picture of another
     * person. */
    double nearest;
    /* Fraction of the pairs with a picture of this person that are classified correctly with the
     * threshold in face_eval.model. */
    double correct;
};

struct face_eval {
    size_t persons, pictures;
    struct metrics model, pixels;  /* of the embeddings, and of the raw pixels */
    struct face_eval_person *rows; /* one per person */
};

/* Evaluates all pictures of these persons, or an even selection of at most METRICS_PICTURES_MAX.
 * Returns -ERR_INVALID for fewer than 2 or more than METRICS_PICTURES_MAX persons, or the error of
 * dataset_load(). The caller releases *ret. */
int face_eval_run(struct face_model *model, const struct dataset *dataset,
                  const struct dataset_persons_list *persons, struct face_eval *ret,
                  struct err *err);
/* Measures the distribution of the distances between pictures and people who are not on them; see
 * threshold.h. Selects pictures like face_eval_run(). Any number of persons is allowed, but persons
 * after the first METRICS_PICTURES_MAX are ignored. */
int face_eval_strangers(struct face_model *model, const struct dataset *dataset,
                        const struct dataset_persons_list *persons, struct face_strangers *ret,
                        struct err *err);
void face_eval_release(struct face_eval *eval); /* safe on zeroed memory */

/* Writes the result as one line of text. */
void face_eval_sentence(const struct face_eval *eval, char *text, size_t size);
struct json *face_eval_to_json(struct arena *arena, const struct face_eval *eval);

#endif
