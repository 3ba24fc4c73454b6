/* Implements the evaluation of a classifier; see eval.h. */
#include "models/classifier/eval.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

enum { PART = 256 /* pictures per pass */ };

int classifier_eval_check(const struct classifier_config *config, const struct idx *data,
                          struct err *err)
{
    if (data->height != config->side || data->width != config->side || config->channels != 1)
        return err_set(err, ERR_INVALID,
                       "the model needs pictures of %d×%d with %d channel%s, but the data set has "
                       "grey ones of %d×%d",
                       config->side, config->side, config->channels,
                       config->channels == 1 ? "" : "s", data->width, data->height);
    if (data->classes > config->classes)
        return err_set(err, ERR_INVALID, "the model has %d classes, but the data set has label %d",
                       config->classes, data->classes - 1);
    return 0;
}

static void count_prediction(const float *probabilities, int label, struct classifier_eval *eval,
                             size_t *confusion)
{
    int best = 0;
    for (int c = 1; c < eval->classes; c++)
        best = probabilities[c] > probabilities[best] ? c : best;
    eval->correct += best == label;
    eval->loss -= log(fmax((double)probabilities[label], 1e-30));
    confusion[(size_t)label * (size_t)eval->classes + (size_t)best]++;
}

static void evaluate_classes(const size_t *confusion, struct classifier_eval *eval)
{
    for (int label = 0; label < eval->classes; label++) {
        struct classifier_eval_class *row = &eval->rows[label];
        size_t most = 0;
        row->mistaken_for = -1;
        for (int other = 0; other < eval->classes; other++) {
            size_t count = confusion[(size_t)label * (size_t)eval->classes + (size_t)other];
            row->pictures += count;
            if (other == label) {
                row->correct = count;
                continue;
            }
            eval->rows[other].taken_for += count;
            if (count > most) {
                most = count;
                row->mistaken_for = other;
            }
        }
    }
}

int classifier_eval_run(struct classifier_model *model, const struct idx *data,
                        struct classifier_eval *ret, struct err *err)
{
    const struct classifier_config *config = classifier_model_config(model);
    int result = classifier_eval_check(config, data, err);
    if (result < 0)
        return result;
    size_t sample = classifier_config_sample(config), classes = (size_t)config->classes;
    struct classifier_eval eval = {.pictures = data->count, .classes = config->classes};
    _cleanup_free_ float *pixels = mem_calloc(PART * sample, sizeof(*pixels));
    _cleanup_free_ float *probabilities = mem_calloc(PART * classes, sizeof(*probabilities));
    _cleanup_free_ size_t *confusion = mem_calloc(classes * classes, sizeof(*confusion));
    for (size_t at = 0; at < data->count; at += PART) {
        size_t now = data->count - at < PART ? data->count - at : PART;
        classifier_pixels(data->pixels + at * sample, now * sample, pixels);
        result = classifier_model_predict(model, pixels, now, probabilities, err);
        if (result < 0)
            return result;
        for (size_t i = 0; i < now; i++)
            count_prediction(probabilities + i * classes, data->labels[at + i], &eval, confusion);
    }
    eval.accuracy = (double)eval.correct / (double)eval.pictures;
    eval.loss /= (double)eval.pictures;
    eval.rows = mem_calloc(classes, sizeof(*eval.rows));
    evaluate_classes(confusion, &eval);
    *ret = eval;
    return 0;
}

void classifier_eval_release(struct classifier_eval *eval)
{
    free(eval->rows);
    *eval = (struct classifier_eval){0};
}

void classifier_eval_sentence(const struct classifier_eval *eval, char *text, size_t size)
{
    snprintf(text, size, "test accuracy %.3f on %zu pictures", eval->accuracy, eval->pictures);
}

struct json *classifier_eval_to_json(struct arena *arena, const struct classifier_model *model,
                                     const struct classifier_eval *eval)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "pictures", (int64_t)eval->pictures);
    json_set_int(arena, json, "right", (int64_t)eval->correct);
    json_set(arena, json, "accuracy", json_real(arena, eval->accuracy));
    json_set(arena, json, "loss", json_real(arena, eval->loss));
    struct json *list = json_set(arena, json, "classes", json_array(arena));
    for (int i = 0; i < eval->classes; i++) {
        const struct classifier_eval_class *row = &eval->rows[i];
        struct json *entry = json_object(arena);
        json_set_string(arena, entry, "label", classifier_model_label(model, i));
        json_set_int(arena, entry, "pictures", (int64_t)row->pictures);
        json_set_int(arena, entry, "right", (int64_t)row->correct);
        json_set_int(arena, entry, "takenFor", (int64_t)row->taken_for);
        json_append(list, entry);
    }
    return json;
}
