/* Implements the comparison of probes with a gallery; see probe.h. probe_chart.c draws the
 * results. */
#include "models/face/probe.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

static int embed_people(struct face_model *model, const struct dataset *people, const char *what,
                        int **ret_persons, float **ret_embeddings, struct err *err)
{
    size_t side = face_model_side(model), channels = face_model_channels(model);
    size_t dimensions = face_model_dimensions(model), total = dataset_total(people), at = 0;
    if (total > METRICS_PICTURES_MAX)
        return err_set(err, ERR_TOO_MANY, "the %s has %zu pictures, but the limit is %d", what,
                       total, METRICS_PICTURES_MAX);
    _cleanup_free_ float *pixels =
        mem_calloc(face_config_sample(face_model_config(model)), sizeof(float));
    *ret_persons = mem_calloc(total, sizeof(**ret_persons));
    *ret_embeddings = mem_calloc(total * dimensions, sizeof(**ret_embeddings));
    for (size_t person = 0; person < dataset_persons(people); person++)
        for (size_t i = 0; i < dataset_pictures(people, person); i++, at++) {
            int result = dataset_load(people, person, i, side, channels, pixels, err);
            if (result == 0)
                result = face_model_embed(model, pixels, 1, *ret_embeddings + at * dimensions, err);
            if (result < 0)
                return result;
            (*ret_persons)[at] = (int)person;
        }
    return 0;
}

/* Returns the index of the person with this name in the gallery, or FACE_PROBE_STRANGER. */
static int find_person(const struct dataset *gallery, const char *name)
{
    for (size_t i = 0; i < dataset_persons(gallery); i++)
        if (str_eq(dataset_person_name(gallery, i), name))
            return (int)i;
    return FACE_PROBE_STRANGER;
}

/* Sets the mean distance from one probe to the pictures of each person of the gallery. */
static void mean_distances(const struct face_probe *probe, size_t row, double *ret_means)
{
    size_t persons = dataset_persons(probe->gallery);
    for (size_t i = 0; i < persons; i++)
        ret_means[i] = 0;
    for (size_t column = 0; column < probe->columns; column++)
        ret_means[probe->column_persons[column]] +=
            (double)probe->distances[row * probe->columns + column];
    for (size_t i = 0; i < persons; i++)
        ret_means[i] /= (double)dataset_pictures(probe->gallery, i);
}

/* Assigns one probe to a person. `means` is memory for one double per person of the gallery. */
static void evaluate_row(struct face_probe *probe, size_t row, double *means)
{
    struct face_probe_person *person = &probe->persons[probe->row_persons[row]];
    int best = 0;
    double other = INFINITY;
    mean_distances(probe, row, means);
    for (int i = 0; i < (int)dataset_persons(probe->gallery); i++) {
        if (means[i] < means[best])
            best = i;
        if (i != person->in_gallery)
            other = fmin(other, means[i]);
    }
    probe->predicted[row] = best;
    person->pictures++;
    person->nearest += isfinite(other) ? other : 0;
    if (person->in_gallery == FACE_PROBE_STRANGER)
        return;
    person->own += means[person->in_gallery];
    person->correct += best == person->in_gallery;
    probe->correct += best == person->in_gallery;
    probe->known++;
}

static void evaluate_probes(struct face_probe *probe)
{
    size_t pairs_count = probe->rows * probe->columns, persons = dataset_persons(probe->probes);
    _cleanup_free_ double *means = mem_calloc(dataset_persons(probe->gallery), sizeof(*means));
    _cleanup_free_ struct metrics_pair *pairs = mem_calloc(pairs_count, sizeof(*pairs));
    probe->predicted = mem_calloc(probe->rows, sizeof(*probe->predicted));
    probe->persons = mem_calloc(persons, sizeof(*probe->persons));
    for (size_t i = 0; i < persons; i++)
        probe->persons[i].in_gallery =
            find_person(probe->gallery, dataset_person_name(probe->probes, i));
    for (size_t row = 0; row < probe->rows; row++) {
        evaluate_row(probe, row, means);
        for (size_t column = 0; column < probe->columns; column++) {
            size_t at = row * probe->columns + column;
            bool same =
                probe->persons[probe->row_persons[row]].in_gallery == probe->column_persons[column];
            pairs[at] = (struct metrics_pair){probe->distances[at], same};
        }
    }
    for (size_t i = 0; i < persons; i++) {
        double pictures = (double)probe->persons[i].pictures;
        probe->persons[i].own /= pictures;
        probe->persons[i].nearest /= pictures;
    }
    probe->metrics = metrics_of_pairs(pairs, pairs_count);
    probe->point_count = metrics_roc(pairs, pairs_count, probe->points, FACE_PROBE_POINTS_MAX);
}

int face_probe_run(struct face_model *model, const struct dataset *gallery,
                   const struct dataset *probes, struct face_probe *ret, struct err *err)
{
    struct face_probe probe = {.gallery = gallery,
                               .probes = probes,
                               .rows = dataset_total(probes),
                               .columns = dataset_total(gallery)};
    _cleanup_free_ float *rows = NULL, *columns = NULL;
    size_t dimensions = face_model_dimensions(model);
    int result = embed_people(model, gallery, "gallery", &probe.column_persons, &columns, err);
    if (result == 0)
        result = embed_people(model, probes, "folder of probes", &probe.row_persons, &rows, err);
    if (result < 0) {
        face_probe_release(&probe);
        return result;
    }
    probe.distances = mem_calloc(probe.rows * probe.columns, sizeof(*probe.distances));
    for (size_t row = 0; row < probe.rows; row++)
        for (size_t column = 0; column < probe.columns; column++)
            probe.distances[row * probe.columns + column] = metrics_distance(
                rows + row * dimensions, columns + column * dimensions, dimensions);
    evaluate_probes(&probe);
    *ret = probe;
    return 0;
}

void face_probe_release(struct face_probe *probe)
{
    free(probe->row_persons);
    free(probe->column_persons);
    free(probe->predicted);
    free(probe->distances);
    free(probe->persons);
    *probe = (struct face_probe){0};
}

void face_probe_sentence(const struct face_probe *probe, char *text, size_t size)
{
    int used = snprintf(text, size, "%zu pictures against a gallery of %zu people", probe->rows,
                        dataset_persons(probe->gallery));
    if (probe->known && used >= 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used,
                         ": %zu of %zu recognised correctly (%.1f %%)", probe->correct,
                         probe->known, 100 * (double)probe->correct / (double)probe->known);
    if (probe->metrics.same && probe->metrics.different && used >= 0 && (size_t)used < size)
        used += snprintf(
            text + used, size - (size_t)used,
            "; pair AUC %.4f; a threshold of %.3f classifies %.1f %% of the pairs correctly",
            probe->metrics.auc, probe->metrics.threshold, 100 * probe->metrics.accuracy);
    if (probe->known < probe->rows && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; %zu are of people not in the gallery",
                 probe->rows - probe->known);
}

static void add_predictions(struct arena *arena, const struct face_probe *probe, struct json *list)
{
    size_t row = 0;
    for (size_t person = 0; person < dataset_persons(probe->probes); person++)
        for (size_t i = 0; i < dataset_pictures(probe->probes, person); i++, row++) {
            char name[4096];
            dataset_picture_name(probe->probes, person, i, name, sizeof(name));
            struct json *item = json_object(arena);
            json_set_string(arena, item, "picture", name);
            json_set_string(arena, item, "person", dataset_person_name(probe->probes, person));
            json_set_string(arena, item, "named",
                            dataset_person_name(probe->gallery, (size_t)probe->predicted[row]));
            json_append(list, item);
        }
}

struct json *face_probe_to_json(struct arena *arena, const struct face_probe *probe)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "pictures", (int64_t)probe->rows);
    json_set_int(arena, json, "asked", (int64_t)probe->known);
    json_set_int(arena, json, "right", (int64_t)probe->correct);
    if (probe->known)
        json_set(arena, json, "rank1",
                 json_real(arena, (double)probe->correct / (double)probe->known));
    if (probe->metrics.same && probe->metrics.different) {
        json_set(arena, json, "auc", json_real(arena, probe->metrics.auc));
        json_set(arena, json, "threshold", json_real(arena, probe->metrics.threshold));
        json_set(arena, json, "pairAccuracy", json_real(arena, probe->metrics.accuracy));
    }
    struct json *people = json_set(arena, json, "people", json_array(arena));
    for (size_t i = 0; i < dataset_persons(probe->probes); i++) {
        const struct face_probe_person *row = &probe->persons[i];
        struct json *person = json_object(arena);
        json_set_string(arena, person, "name", dataset_person_name(probe->probes, i));
        json_set(arena, person, "inGallery",
                 json_bool(arena, row->in_gallery != FACE_PROBE_STRANGER));
        json_set_int(arena, person, "pictures", (int64_t)row->pictures);
        if (row->in_gallery != FACE_PROBE_STRANGER) {
            json_set_int(arena, person, "right", (int64_t)row->correct);
            json_set(arena, person, "ownDistance", json_real(arena, row->own));
        }
        json_set(arena, person, "nearestOther", json_real(arena, row->nearest));
        json_append(people, person);
    }
    add_predictions(arena, probe, json_set(arena, json, "predictions", json_array(arena)));
    return json;
}
