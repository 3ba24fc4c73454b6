/* Measures the accuracy of a classifier on test pictures, overall and per class. Called at the end
 * of training and by `trainer evaluate`. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_EVAL_H
#define TRAINYARD_MODELS_CLASSIFIER_EVAL_H

#include "models/classifier/model.h"
#include "train/data/idx.h"

struct classifier_eval_class {
    size_t pictures;  /* pictures of this class */
    size_t correct;   /* pictures of this class for which this class was predicted */
    size_t taken_for; /* pictures of other classes for which this class was predicted */
    int mistaken_for; /* the wrong class predicted most often for this class; -1: none */
};

struct classifier_eval {
    size_t pictures, correct; /* number of pictures, and of correct predictions */
    double accuracy;          /* correct / pictures */
    double loss;              /* mean of −log p(label) */
    int classes;
    struct classifier_eval_class *rows; /* one per class */
};

/* Returns -ERR_INVALID if the pictures or labels do not match the model. */
int classifier_eval_check(const struct classifier_config *config, const struct idx *data,
                          struct err *err);

/* Evaluates all pictures. Returns the errors of classifier_eval_check(). The caller releases
 * *ret. */
int classifier_eval_run(struct classifier_model *model, const struct idx *data,
                        struct classifier_eval *ret, struct err *err);
void classifier_eval_release(struct classifier_eval *eval); /* safe on zeroed memory */

/* Writes "test accuracy 0.873 on 10000 pictures". */
void classifier_eval_sentence(const struct classifier_eval *eval, char *text, size_t size);
struct json *classifier_eval_to_json(struct arena *arena, const struct classifier_model *model,
                                     const struct classifier_eval *eval);

#endif
