/* A classifier of small pictures, ready to run: parameters, network and the memory of one pass. The
 * commands `trainer evaluate`, `trainer export` and `trainer serve` load a model from a file;
 * training creates a new model. Only one thread at a time may use a model. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_MODEL_H
#define TRAINYARD_MODELS_CLASSIFIER_MODEL_H

#include "models/classifier/classifier.h"

/* The name of the model file, in a model directory and in the directory of an exported version. */
#define CLASSIFIER_MODEL_FILE "classifier.model"

struct classifier_model;

/* Creates a model whose parameters are not set and whose labels are the numbers of the classes. The
 * caller sets the parameters, calls classifier_model_changed(), and frees *ret with
 * classifier_model_free(). */
int classifier_model_new(const struct classifier_config *config, struct classifier_model **ret,
                         struct err *err);
/* Loads a model file or a checkpoint. Returns -ERR_INVALID if the file has another kind of model,
 * or the error of checkpoint_read(). The caller frees *ret. */
int classifier_model_load(const char *path, struct classifier_model **ret, struct err *err);
/* Writes the model file under a temporary name and renames it. The file does not have the state
 * that only training needs. */
int classifier_model_save(const struct classifier_model *model, const char *path, uint64_t step,
                          uint64_t seed, struct err *err);
/* NULL-safe; returns NULL. */
struct classifier_model *classifier_model_free(struct classifier_model *model);
DEFINE_CLEANUP(classifier_model)

const struct classifier_config *classifier_model_config(const struct classifier_model *model);
struct params *classifier_model_params(struct classifier_model *model);
struct network *classifier_model_network(struct classifier_model *model);
/* Must be called after every change of the parameters, before the next pass. */
void classifier_model_changed(struct classifier_model *model);

/* Returns the name of class `label`, such as "Ankle boot". `label` must be from 0 to
 * config->classes - 1. The model owns the name. classifier_model_set_label() copies `name`,
 * shortened to CLASSIFIER_LABEL_MAX - 1 bytes. */
const char *classifier_model_label(const struct classifier_model *model, int label);
void classifier_model_set_label(struct classifier_model *model, int label, const char *name);

/* Adds the labels, and the accuracy if it is known, to the notes of a model file.
 * classifier_model_load() reads them back. */
void classifier_model_note(const struct classifier_model *model, struct arena *arena,
                           struct json *notes);

/* Returns the accuracy on the test pictures, or -1 if the model has none. */
double classifier_model_accuracy(const struct classifier_model *model);
void classifier_model_set_accuracy(struct classifier_model *model, double accuracy);

/* Takes `count` pictures of side × side × channels floats from 0 to 1. Sets count × classes
 * probabilities; those of one picture add up to 1. Returns -ERR_INVALID if a pixel is infinite or
 * not a number. */
int classifier_model_predict(struct classifier_model *model, const float *pixels, size_t count,
                             float *ret_probabilities, struct err *err);

#endif
