/* Prints the path of the report of a finished run. Called at the end of a run. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_REPORT_H
#define TRAINYARD_CLI_TRAINER_FIT_REPORT_H

#include "base/json/json.h"

/* Prints the path of the report as the last line of a run. Prints nothing if the directory has no
 * report or is NULL. */
void fit_report_print(const char *model_dir);

/* Like fit_report_print(), but sets the member "report" of `line`. */
void fit_report_set(struct arena *arena, struct json *line, const char *model_dir);

#endif
