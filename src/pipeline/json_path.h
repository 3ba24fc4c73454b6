/* The part of kubectl's JSONPath that names one value: "{.metadata.name}", "{.spec.ports[0].port}",
 * "{.metadata.labels['a.b/c']}", and "{}" for the whole. Pure. */
#ifndef TRAINYARD_PIPELINE_JSON_PATH_H
#define TRAINYARD_PIPELINE_JSON_PATH_H

#include "base/json/json.h"

/* The value as kubectl prints it: a string as it is, all else as JSON; "" where there is none, as
 * kubectl does. A path of another form is refused. */
int workflow_json_path(struct arena *arena, const struct json *object, const char *path,
                       const char **ret, struct err *err);

/* The same for "status.conditions.0.type"; NULL where there is none. */
const char *workflow_json_path_dotted(struct arena *arena, const struct json *object,
                                      const char *path);

#endif
