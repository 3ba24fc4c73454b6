/* A classifier of small pictures that can be run: parameters, network and the memory of one pass.
 * Loaded from a model file by evaluation and by the page server; made empty by training. One owner
 * at a time. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_MODEL_H
#define TRAINYARD_MODELS_CLASSIFIER_MODEL_H

#include "models/classifier.h"

#define CLASSIFIER_MODEL_FILE "classifier.model" /* in a version's directory */

struct classifier_model;

int classifier_model_new(const struct classifier_config *config, struct classifier_model **ret,
                         struct err *err);
int classifier_model_load(const char *path, struct classifier_model **ret, struct err *err);
struct classifier_model *classifier_model_free(struct classifier_model *model);
DEFINE_CLEANUP(classifier_model)

const struct classifier_config *classifier_model_config(const struct classifier_model *model);
struct params *classifier_model_params(struct classifier_model *model);
struct network *classifier_model_network(struct classifier_model *model);
void classifier_model_changed(struct classifier_model *model); /* after every change of values */

/* `count` pictures of side × side × channels floats from 0 to 1; probabilities are count × classes,
 * each row adding up to 1. */
int classifier_model_predict(struct classifier_model *model, const float *pixels, size_t count,
                             float *ret_probabilities, struct err *err);

#endif
