/* Implements the evaluation of a face model; see eval.h. */
#include "models/face/eval.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The evaluated pictures, ordered by person. */
struct gathered {
    size_t count;
    int *labels; /* for each picture, the index of its person in the list of persons */
    float *embeddings, *pixels;
};

static void gathered_release(struct gathered *gathered)
{
    free(gathered->labels);
    free(gathered->embeddings);
    free(gathered->pixels);
}

/* Returns how many pictures of a person are evaluated, such that the total is within
 * METRICS_PICTURES_MAX. */
static size_t pictures_per_person(size_t pictures, size_t persons)
{
    size_t limit = METRICS_PICTURES_MAX / persons;
    return pictures < limit ? pictures : limit;
}

static int embed_people(struct face_model *model, const struct dataset *dataset,
                        const struct dataset_persons_list *persons, struct gathered *gathered,
                        struct err *err)
{
    size_t side = face_model_side(model), channels = face_model_channels(model);
    size_t sample = side * side * channels, dimensions = face_model_dimensions(model), total = 0;
    for (size_t i = 0; i < persons->count; i++)
        total += pictures_per_person(dataset_pictures(dataset, persons->items[i]), persons->count);
    gathered->labels = mem_calloc(total + 1, sizeof(int));
    gathered->embeddings = mem_calloc(total * dimensions + 1, sizeof(float));
    gathered->pixels = mem_calloc(total * sample + 1, sizeof(float));
    for (size_t i = 0; i < persons->count; i++) {
        size_t person = persons->items[i], pictures = dataset_pictures(dataset, person);
        size_t take = pictures_per_person(pictures, persons->count);
        for (size_t j = 0; j < take; j++) {
            float *pixels = gathered->pixels + gathered->count * sample;
            int result =
                dataset_load(dataset, person, j * pictures / take, side, channels, pixels, err);
            if (result == 0)
                result = face_model_embed(model, pixels, 1,
                                          gathered->embeddings + gathered->count * dimensions, err);
            if (result < 0)
                return result;
            gathered->labels[gathered->count++] = (int)i;
        }
    }
    return 0;
}

static void evaluate_persons(const struct gathered *gathered, size_t dimensions, double threshold,
                             struct face_eval *eval)
{
    for (size_t i = 0; i < eval->persons; i++) {
        struct face_eval_person *row = &eval->rows[i];
        size_t same = 0, correct = 0, pairs = 0;
        for (size_t a = 0; a < gathered->count; a++) {
            if (gathered->labels[a] != (int)i)
                continue;
            double nearest = INFINITY;
            for (size_t b = 0; b < gathered->count; b++) {
                if (a == b)
                    continue;
                bool same_person = gathered->labels[b] == (int)i;
                double distance =
                    (double)metrics_distance(gathered->embeddings + a * dimensions,
                                             gathered->embeddings + b * dimensions, dimensions);
                pairs++;
                correct += same_person == (distance < threshold);
                if (same_person) {
                    row->same += distance;
                    same++;
                } else {
                    nearest = fmin(nearest, distance);
                }
            }
            row->nearest += isfinite(nearest) ? nearest : 0;
            row->pictures++;
        }
        row->same /= same ? (double)same : 1;
        row->nearest /= row->pictures ? (double)row->pictures : 1;
        row->correct = pairs ? (double)correct / (double)pairs : 0;
    }
}

int face_eval_run(struct face_model *model, const struct dataset *dataset,
                  const struct dataset_persons_list *persons, struct face_eval *ret,
                  struct err *err)
{
    if (persons->count < 2 || persons->count > METRICS_PICTURES_MAX)
        return err_set(err, ERR_INVALID, "%zu persons cannot be compared: use 2 to %d",
                       persons->count, METRICS_PICTURES_MAX);
    _cleanup_(gathered_release) struct gathered gathered = {0};
    int result = embed_people(model, dataset, persons, &gathered, err);
    if (result < 0)
        return result;
    size_t dimensions = face_model_dimensions(model),
           sample = face_config_sample(face_model_config(model));
    *ret = (struct face_eval){
        .persons = persons->count,
        .pictures = gathered.count,
        .model =
            metrics_of_vectors(gathered.embeddings, gathered.labels, gathered.count, dimensions),
        .pixels = metrics_of_vectors(gathered.pixels, gathered.labels, gathered.count, sample),
        .rows = mem_calloc(persons->count, sizeof(*ret->rows)),
    };
    for (size_t i = 0; i < persons->count; i++)
        ret->rows[i].person = persons->items[i];
    evaluate_persons(&gathered, dimensions, ret->model.threshold, ret);
    return 0;
}

int face_eval_strangers(struct face_model *model, const struct dataset *dataset,
                        const struct dataset_persons_list *persons, struct face_strangers *ret,
                        struct err *err)
{
    _cleanup_(gathered_release) struct gathered gathered = {0};
    struct dataset_persons_list some = {persons->items, persons->count};
    if (some.count > METRICS_PICTURES_MAX)
        some.count = METRICS_PICTURES_MAX;
    int result = embed_people(model, dataset, &some, &gathered, err);
    if (result < 0)
        return result;
    _cleanup_free_ size_t *first = mem_calloc(some.count + 1, sizeof(*first));
    for (size_t i = 0; i < gathered.count; i++)
        first[gathered.labels[i] + 1]++;
    for (size_t i = 0; i < some.count; i++)
        first[i + 1] += first[i];
    *ret = face_strangers_measure(gathered.embeddings, first, some.count,
                                  face_model_dimensions(model));
    return 0;
}

void face_eval_release(struct face_eval *eval)
{
    free(eval->rows);
    *eval = (struct face_eval){0};
}

void face_eval_sentence(const struct face_eval *eval, char *text, size_t size)
{
    snprintf(text, size,
             "%zu people, %zu pictures, %zu pairs: pair AUC %.4f with the model, %.4f with raw "
             "pixels; pair accuracy %.1f %% against %.1f %%; nearest picture is of the same person "
             "%.1f %% against %.1f %%",
             eval->persons, eval->pictures, eval->model.same + eval->model.different,
             eval->model.auc, eval->pixels.auc, 100 * eval->model.accuracy,
             100 * eval->pixels.accuracy, 100 * eval->model.nearest, 100 * eval->pixels.nearest);
}

static struct json *metrics_to_json(struct arena *arena, const struct metrics *metrics)
{
    struct json *json = json_object(arena);
    json_set(arena, json, "auc", json_real(arena, metrics->auc));
    json_set(arena, json, "accuracy", json_real(arena, metrics->accuracy));
    json_set(arena, json, "threshold", json_real(arena, metrics->threshold));
    json_set(arena, json, "nearest", json_real(arena, metrics->nearest));
    return json;
}

struct json *face_eval_to_json(struct arena *arena, const struct face_eval *eval)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "persons", (int64_t)eval->persons);
    json_set_int(arena, json, "pictures", (int64_t)eval->pictures);
    json_set_int(arena, json, "pairs", (int64_t)(eval->model.same + eval->model.different));
    json_set(arena, json, "model", metrics_to_json(arena, &eval->model));
    json_set(arena, json, "rawPixels", metrics_to_json(arena, &eval->pixels));
    return json;
}
