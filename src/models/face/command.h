/* The options of `trainer fit face`: their table, and what they mean for the training. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_FACE_H
#define TRAINYARD_CLI_TRAINER_FIT_FACE_H

#include "models/face/fit.h"
#include "train/run/fit_options.h"

struct fit_face_values {
    struct fit_shared shared;
    const char *data, *crop, *optimizer, *schedule, *mining, *norm, *light, *views, *start_from;
    int64_t persons, pictures, held_out, steps, epochs, batch, batch_persons, batch_pictures, side,
        channels, embedding, width, warm_up;
    double margin, rate, weight_decay, blend, reshape, shift, turn, zoom, shade, noise, cover,
        backdrop;
    bool plain_pictures;
};
FIT_SHARED_FIRST(struct fit_face_values);

extern const struct option FIT_FACE_OPTIONS[];

/* Refuses values that do not go together. --epochs is left to who knows the data. */
int fit_face_options_of(const struct fit_face_values *values, struct face_fit_options *ret,
                        struct err *err);

#endif
