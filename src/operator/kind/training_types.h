/* Declares the tables with the fields of training jobs. The API server validates jobs by them, and
 * OpenAPI and manifests/ are generated from them. */
#ifndef TRAINYARD_OPERATOR_KIND_TRAINING_TYPES_H
#define TRAINYARD_OPERATOR_KIND_TRAINING_TYPES_H

#include "kube/schema/schema.h"

extern const struct schema_object TFJOB_TYPE, TFJOB_TYPE_V1BETA1, PYTORCHJOB_TYPE;

#endif
