/* Reports the path of the report of a run (train/run/run_report.h), as a line of text or in JSON.
 * `trainer fit` calls it at the end of a run. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_REPORT_H
#define TRAINYARD_CLI_TRAINER_FIT_REPORT_H

#include "base/json/json.h"

/* Prints the path on standard output. Prints nothing if the directory has no report, or if
 * `model_dir` is NULL. */
void fit_report_print(const char *model_dir);

/* Sets the member "report" of `line` to the path. Sets nothing if the directory has no report, or
 * if `model_dir` is NULL. */
void fit_report_set(struct arena *arena, struct json *line, const char *model_dir);

#endif
