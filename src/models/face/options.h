/* The options of `trainer fit face`: the option table, the struct of their values, and the
 * conversion of the values into struct face_fit_options. Only models/face/command.c uses this
 * file. */
#ifndef TRAINYARD_MODELS_FACE_OPTIONS_H
#define TRAINYARD_MODELS_FACE_OPTIONS_H

#include "models/face/fit.h"
#include "train/run/fit_options.h"

/* One member per option of FACE_OPTIONS, which has the help text of each. */
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

/* Converts the values. The caller handles the options that depend on the data: --data, --crop,
 * --persons, --pictures and --epochs. Returns 0, or -ERR_USAGE if a value is invalid or several
 * values contradict each other; *ret is then undefined. */
int face_options_read(const struct face_values *values, struct face_fit_options *ret,
                      struct err *err);

#endif
