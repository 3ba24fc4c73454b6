/* The part of TensorFlow Serving's REST interface that a classifier needs: it converts the body of
 * a predict request into pixels, probabilities into the response, and describes the status of a
 * model. Pure functions on JSON. The page of the classifier uses them. */
#ifndef TRAINYARD_SERVE_TF_SERVING_H
#define TRAINYARD_SERVE_TF_SERVING_H

#include "base/json/json.h"

/* Reads {"instances": [PICTURE, …]}. A picture is `sample` numbers in any nesting (a flat list,
 * rows, rows of pixels with channels), or {"NAME": such a list}. The caller frees ret_pixels. */
int tf_serving_read(struct arena *arena, const char *body, size_t size, size_t sample, size_t max,
                    float **ret_pixels, size_t *ret_count, struct err *err);

/* {"predictions": [[p, …], …]} */
struct json *tf_serving_predictions(struct arena *arena, const float *probabilities, size_t count,
                                    size_t classes);

/* {"model_version_status": [{"version": "3", "state": "AVAILABLE", …}]} */
struct json *tf_serving_status(struct arena *arena, int64_t version);

#endif
