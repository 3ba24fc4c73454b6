/* The part of TensorFlow Serving's REST interface that a classifier needs: converts the body of a
 * predict request into pixels, converts probabilities into the response, and describes the status
 * of a model. No function has side effects. classifier_page.c calls them. */
#ifndef TRAINYARD_SERVE_TF_SERVING_H
#define TRAINYARD_SERVE_TF_SERVING_H

#include "base/json/json.h"

/* Reads {"instances": [PICTURE, …]}. A picture is a list of `sample` numbers in any nesting (flat,
 * rows, or rows of pixels with channels), or an object whose first member is such a list. Returns
 * -ERR_TOO_LARGE for more than `max` pictures, and another error if the body is malformed. The
 * caller frees *ret_pixels. */
int tf_serving_read(struct arena *arena, const char *body, size_t size, size_t sample, size_t max,
                    float **ret_pixels, size_t *ret_count, struct err *err);

/* Returns {"predictions": [[p, …], …]}, allocated in `arena`: one list of `classes` probabilities
 * per picture. */
struct json *tf_serving_predictions(struct arena *arena, const float *probabilities, size_t count,
                                    size_t classes);

/* Returns {"model_version_status": [{"version": "3", "state": "AVAILABLE", …}]}, allocated in
 * `arena`. */
struct json *tf_serving_status(struct arena *arena, int64_t version);

#endif
