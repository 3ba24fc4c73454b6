/* The options of `trainer fit face`: their table, and their conversion into the options of the
 * training. */
#ifndef TRAINYARD_MODELS_FACE_OPTIONS_H
#define TRAINYARD_MODELS_FACE_OPTIONS_H

#include "models/face/fit.h"
#include "train/run/fit_options.h"

struct face_values {
    struct fit_values shared;
    const char *data, *crop, *optimizer, *schedule, *mining, *norm, *light, *views, *start_from;
    int64_t persons, pictures, held_out, steps, epochs, batch, batch_persons, batch_pictures, side,
        channels, embedding, width, warm_up;
    double margin, rate, weight_decay, blend, reshape, shift, turn, zoom, shade, noise, cover,
        backdrop;
    bool plain_pictures;
};
FIT_VALUES_FIRST(struct face_values);

extern const struct option FACE_OPTIONS[];

/* Converts the values, except --epochs, whose meaning depends on the data. Returns -ERR_USAGE for
 * values that do not go together. */
int face_options_read(const struct face_values *values, struct face_fit_options *ret,
                      struct err *err);

#endif
