/* A classifier of small pictures, ready to run: parameters, network and the memory of one pass.
 * Evaluation and the model server load it from a file; training creates a new one. One thread at a
 * time may use it. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_MODEL_H
#define TRAINYARD_MODELS_CLASSIFIER_MODEL_H

#include "models/classifier/classifier.h"

/* The name of the model file, in a model directory and in the directory of an exported version. */
#define CLASSIFIER_MODEL_FILE "classifier.model"

struct classifier_model;

/* Creates a model whose parameters are not set and whose labels are numbers. The caller sets the
 * parameters and then calls classifier_model_changed(). */
int classifier_model_new(const struct classifier_config *config, struct classifier_model **ret,
                         struct err *err);
int classifier_model_load(const char *path, struct classifier_model **ret, struct err *err);
/* Writes the model file under a temporary name and renames it. The file does not have the state
 * that only training needs. */
int classifier_model_save(const struct classifier_model *model, const char *path, uint64_t step,
                          uint64_t seed, struct err *err);
struct classifier_model *classifier_model_free(struct classifier_model *model);
DEFINE_CLEANUP(classifier_model)

const struct classifier_config *classifier_model_config(const struct classifier_model *model);
struct params *classifier_model_params(struct classifier_model *model);
struct network *classifier_model_network(struct classifier_model *model);
/* Must be called after every change of the parameters. */
void classifier_model_changed(struct classifier_model *model);

/* The name of a class, which must be below config->classes: "Ankle boot". */
const char *classifier_model_label(const struct classifier_model *model, int label);
void classifier_model_set_label(struct classifier_model *model, int label, const char *name);

/* Adds labels and accuracy to the notes of a model file. classifier_model_load() reads them if the
 * file has them. */
void classifier_model_note(const struct classifier_model *model, struct arena *arena,
                           struct json *notes);

/* The accuracy on the test pictures, or -1 if it is not known. */
double classifier_model_accuracy(const struct classifier_model *model);
void classifier_model_set_accuracy(struct classifier_model *model, double accuracy);

/* Takes `count` pictures of side × side × channels floats from 0 to 1. Sets count × classes
 * probabilities; those of one picture add up to 1. Returns -ERR_INVALID if a pixel is not a number.
 */
int classifier_model_predict(struct classifier_model *model, const float *pixels, size_t count,
                             float *ret_probabilities, struct err *err);

#endif
