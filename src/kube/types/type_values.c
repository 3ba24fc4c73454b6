/* The types of values that are not objects; see types.h. */
#include "kube/types/types.h"

const struct schema TYPE_ANYTHING = {.type = SCHEMA_ANY}, TYPE_BYTES = {.type = SCHEMA_BYTES},
                    TYPE_INT32 = {.type = SCHEMA_INT32}, TYPE_INT64 = {.type = SCHEMA_INT64},
                    TYPE_QUANTITY = {.type = SCHEMA_QUANTITY}, TYPE_TEXT = {.type = SCHEMA_STRING},
                    TYPE_TEXT_LIST = {.type = SCHEMA_LIST, .items = &TYPE_TEXT};
