/* The part of `trainer predict` that compares a folder of probe pictures with a gallery of known
 * people. */
#ifndef TRAINYARD_CLI_TRAINER_PREDICT_PROBES_H
#define TRAINYARD_CLI_TRAINER_PREDICT_PROBES_H

#include "models/face/model.h"
#include "models/face/people.h"

/* Prints a table, or one line of JSON. If `output` (a folder, created if needed) is not NULL, also
 * writes distances.png, roc.csv, roc.svg and prediction.json there. */
int predict_probes_run(struct face_model *model, const struct people_crop *crop,
                       const char *gallery, const char *probes, const char *output, bool as_json,
                       struct err *err);

#endif
