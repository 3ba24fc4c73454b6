/* A classifier of small pictures that can be run: parameters, network and the memory of one pass.
 * Loaded from a model file by evaluation and by the page server; made empty by training. One owner
 * at a time. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_MODEL_H
#define TRAINYARD_MODELS_CLASSIFIER_MODEL_H

#include "models/classifier/classifier.h"

#define CLASSIFIER_MODEL_FILE "classifier.model" /* in a version's directory */

struct classifier_model;

/* Values are not set: classifier_model_params() is for the caller to fill, then
 * classifier_model_changed(). Labels are numbers. */
int classifier_model_new(const struct classifier_config *config, struct classifier_model **ret,
                         struct err *err);
int classifier_model_load(const char *path, struct classifier_model **ret, struct err *err);
/* Without what only training needs; written aside and renamed. */
int classifier_model_save(const struct classifier_model *model, const char *path, uint64_t step,
                          uint64_t seed, struct err *err);
struct classifier_model *classifier_model_free(struct classifier_model *model);
DEFINE_CLEANUP(classifier_model)

const struct classifier_config *classifier_model_config(const struct classifier_model *model);
struct params *classifier_model_params(struct classifier_model *model);
struct network *classifier_model_network(struct classifier_model *model);
void classifier_model_changed(struct classifier_model *model); /* after every change of values */

/* What a class is called, below config->classes: "Ankle boot". */
const char *classifier_model_label(const struct classifier_model *model, int label);
void classifier_model_set_label(struct classifier_model *model, int label, const char *name);

/* What is worth keeping beside the parameters, as classifier_model_load() takes it from a file; one
 * without it is a model all the same. */
void classifier_model_note(const struct classifier_model *model, struct arena *arena,
                           struct json *notes);

/* Part of the test pictures it was right about, or -1 where nobody looked. */
double classifier_model_accuracy(const struct classifier_model *model);
void classifier_model_set_accuracy(struct classifier_model *model, double accuracy);

/* `count` pictures of side × side × channels floats from 0 to 1; probabilities are count × classes,
 * each row adding up to 1. */
int classifier_model_predict(struct classifier_model *model, const float *pixels, size_t count,
                             float *ret_probabilities, struct err *err);

#endif
