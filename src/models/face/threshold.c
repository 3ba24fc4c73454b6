/* Implements the thresholds and the measurement behind them; see threshold.h. */
#include "models/face/threshold.h"

#include "base/mem.h"
#include "train/network/metrics.h"

#include <math.h>
#include <stdlib.h>

/* Limits for the measurement of a distribution. More people or pictures hardly change the
 * result. */
enum { PEOPLE_MAX = 400, PICTURES_MAX = 8 /* per person */ };

/* The quantiles that are stored, as fractions of the pairs. Most of them are small, because the
 * thresholds are small quantiles. */
static const double PARTS[FACE_STRANGERS_QUANTILES] = {0,    1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3,
                                                       0.01, 0.02, 0.05, 0.1,  0.2,  0.5};

/* The thresholds without a measurement: the distances for rates of 0.005, 0.05 and 0.25 with the
 * models for which the default rate was chosen. */
static const struct face_threshold FIXED = {0.55, 0.7, 0.85, FACE_THRESHOLD_DEFAULT};

static int by_distance(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

struct face_strangers face_strangers_of(double *distances, size_t pairs, size_t people)
{
    struct face_strangers strangers = {0};
    if (pairs == 0)
        return strangers;
    qsort(distances, pairs, sizeof(*distances), by_distance);
    strangers.people = people;
    strangers.pairs = pairs;
    for (size_t i = 0; i < FACE_STRANGERS_QUANTILES; i++)
        strangers.quantiles[i] = distances[(size_t)(PARTS[i] * (double)pairs)];
    return strangers;
}

/* Returns the smallest stride that selects at most `limit` of `count` elements. */
static size_t stride_of(size_t count, size_t limit)
{
    return (count + limit - 1) / limit;
}

/* Returns the mean distance from a picture to the pictures of a person. */
static double mean_distance(const float *picture, const float *others, size_t count,
                            size_t dimensions)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)metrics_distance(picture, others + i * dimensions, dimensions);
    return sum / (double)count;
}

struct face_strangers face_strangers_measure(const float *embeddings, const size_t *first,
                                             size_t people, size_t dimensions)
{
    size_t every = people ? stride_of(people, PEOPLE_MAX) : 1, taken = 0, pairs = 0;
    _cleanup_free_ double *distances =
        mem_calloc((size_t)PEOPLE_MAX * PEOPLE_MAX * PICTURES_MAX + 1, sizeof(*distances));
    for (size_t person = 0; person < people; person += every, taken++) {
        size_t end = first[person + 1];
        size_t step = end > first[person] ? stride_of(end - first[person], PICTURES_MAX) : 1;
        for (size_t at = first[person]; at < end; at += step)
            for (size_t other = 0; other < people; other += every)
                if (other != person && first[other + 1] > first[other])
                    distances[pairs++] = mean_distance(embeddings + at * dimensions,
                                                       embeddings + first[other] * dimensions,
                                                       first[other + 1] - first[other], dimensions);
    }
    return face_strangers_of(distances, pairs, taken);
}

double face_strangers_distance(const struct face_strangers *strangers, double part)
{
    size_t at = 1;
    while (at + 1 < FACE_STRANGERS_QUANTILES && PARTS[at] < part)
        at++;
    double low = strangers->quantiles[at - 1], high = strangers->quantiles[at];
    double along = (part - PARTS[at - 1]) / (PARTS[at] - PARTS[at - 1]);
    return low + (high - low) * fmin(fmax(along, 0), 1);
}

struct json *face_strangers_to_json(struct arena *arena, const struct face_strangers *strangers)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "people", (int64_t)strangers->people);
    json_set_int(arena, json, "pairs", (int64_t)strangers->pairs);
    json_set(arena, json, "trainedOn", json_bool(arena, strangers->trained_on));
    struct json *list = json_set(arena, json, "distances", json_array(arena));
    for (size_t i = 0; i < FACE_STRANGERS_QUANTILES; i++)
        json_append(list, json_real(arena, strangers->quantiles[i]));
    return json;
}

struct face_strangers face_strangers_from_json(const struct json *json)
{
    struct face_strangers strangers = {.trained_on = json_get_bool(json, "trainedOn", false)};
    const struct json *list = json_get(json, "distances");
    int64_t people = json_get_int(json, "people", 0), pairs = json_get_int(json, "pairs", 0);
    double before = 0;
    size_t read = 0;
    JSON_EACH (distance, list) {
        double value = json_number(distance, -1);
        if (read == FACE_STRANGERS_QUANTILES || !isfinite(value) || value < before)
            return (struct face_strangers){0};
        strangers.quantiles[read++] = before = value;
    }
    if (read < FACE_STRANGERS_QUANTILES || people < 2 || pairs < 1)
        return (struct face_strangers){0};
    strangers.people = (size_t)people;
    strangers.pairs = (size_t)pairs;
    return strangers;
}

/* Returns the quantile of the threshold at which a fraction `rate` of strangers is accepted: the
 * fraction of the pairs that lie below it. A stranger is accepted if the distance to at least one
 * of `people` people is below the threshold. */
static double part_of_pairs(double rate, size_t people)
{
    return 1 - pow(1 - fmin(rate, 0.5), 1 / (double)(people ? people : 1));
}

struct face_threshold face_threshold_of(const struct face_strangers *gallery,
                                        const struct face_strangers *model, size_t people,
                                        double rate)
{
    const struct face_strangers *chosen = gallery;
    bool enough = gallery->people >= FACE_STRANGERS_PEOPLE_MIN &&
                  (double)gallery->pairs * part_of_pairs(rate, people) >= 1;
    if (!enough && model->people)
        chosen = model;
    if (!chosen->people)
        return FIXED;
    return (struct face_threshold){
        .sure = face_strangers_distance(chosen, part_of_pairs(rate / 10, people)),
        .known = face_strangers_distance(chosen, part_of_pairs(rate, people)),
        .near = face_strangers_distance(chosen, part_of_pairs(rate * 5, people)),
        .source = chosen == gallery ? FACE_THRESHOLD_GALLERY : FACE_THRESHOLD_MODEL,
    };
}

const char *face_threshold_words(const struct face_threshold *threshold, double distance)
{
    return distance < threshold->sure    ? "very likely"
           : distance < threshold->known ? "likely"
           : distance < threshold->near  ? "unsure"
                                         : "no person of the gallery is near";
}
