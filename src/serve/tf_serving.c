/* Implements the conversion between arrays and the JSON of the TensorFlow Serving REST interface;
 * see tf_serving.h. */
#include "serve/tf_serving.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

struct reading {
    float *to;
    size_t count, max; /* numbers read so far, and capacity of `to` */
};

/* Appends the numbers of a nested list. Returns false if there are too many, or if the list has
 * anything else. The recursion is bounded, because the JSON parser limits the depth. */
static bool read_numbers(struct reading *reading, const struct json *json)
{
    if (json->type == JSON_INT || json->type == JSON_REAL) {
        if (reading->count == reading->max)
            return false;
        reading->to[reading->count++] = (float)json_number(json, 0);
        return true;
    }
    if (json->type != JSON_ARRAY)
        return false;
    JSON_EACH (item, json)
        if (!read_numbers(reading, item))
            return false;
    return true;
}

int tf_serving_read(struct arena *arena, const char *body, size_t size, size_t sample, size_t max,
                    float **ret_pixels, size_t *ret_count, struct err *err)
{
    struct json *json;
    int result = json_parse(arena, body, size, NULL, &json, err);
    if (result < 0)
        return err_wrap(err, "the body is not JSON");
    const struct json *instances = json_get(json, "instances");
    size_t count = json_count(instances), position = 0;
    if (!instances || instances->type != JSON_ARRAY || count == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "the body has no list 'instances': send {\"instances\": [PICTURE, …]}");
    if (count > max)
        return err_set(err, ERR_TOO_LARGE,
                       "%zu pictures are too many for one request: send at most %zu", count, max);
    _cleanup_free_ float *pixels = mem_calloc(count * sample, sizeof(float));
    JSON_EACH (instance, instances) {
        struct reading reading = {.to = pixels + position * sample, .max = sample};
        const struct json *picture =
            instance->type == JSON_OBJECT ? json_first(instance) : instance;
        if (!picture || !read_numbers(&reading, picture) || reading.count != sample)
            return err_set(err, ERR_BAD_REQUEST,
                           "instances[%zu] is not a picture: it must have %zu numbers", position,
                           sample);
        position++;
    }
    *ret_pixels = TAKE(pixels);
    *ret_count = count;
    return 0;
}

struct json *tf_serving_predictions(struct arena *arena, const float *probabilities, size_t count,
                                    size_t classes)
{
    struct json *answer = json_object(arena);
    struct json *predictions = json_ensure_array(arena, answer, "predictions");
    for (size_t i = 0; i < count; i++) {
        struct json *row = json_array(arena);
        for (size_t class = 0; class < classes; class ++)
            json_append(row, json_real(arena, probabilities[i * classes + class]));
        json_append(predictions, row);
    }
    return answer;
}

struct json *tf_serving_status(struct arena *arena, int64_t version)
{
    struct json *answer = json_object(arena), *row = json_object(arena),
                *status = json_object(arena);
    json_set(arena, row, "version", json_stringf(arena, "%" PRId64, version));
    json_set_string(arena, row, "state", "AVAILABLE");
    json_set_string(arena, status, "error_code", "OK");
    json_set_string(arena, status, "error_message", "");
    json_set(arena, row, "status", status);
    json_append(json_ensure_array(arena, answer, "model_version_status"), row);
    return answer;
}
