/* The part of `trainer predict` that compares a folder of probe pictures with a gallery of known
 * people (models/face/probe.h), and prints the result. */
#ifndef TRAINYARD_CLI_TRAINER_PREDICT_PROBES_H
#define TRAINYARD_CLI_TRAINER_PREDICT_PROBES_H

#include "models/face/model.h"
#include "models/face/people.h"

/* Compares the pictures of the folder `probes` with those of the folder `gallery`. With `as_json`,
 * prints one line of JSON. Otherwise prints a table, or the nearest person for each picture if no
 * person of the probes is in the gallery. If `output` is a folder (neither NULL nor ""), creates it
 * if needed and writes distances.png, roc.csv, roc.svg and prediction.json there. */
int predict_probes_run(struct face_model *model, const struct people_crop *crop,
                       const char *gallery, const char *probes, const char *output, bool as_json,
                       struct err *err);

#endif
