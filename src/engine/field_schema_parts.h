/* Levels of the field tables that more than one file of them needs. */
#ifndef TRAINYARD_ENGINE_FIELD_SCHEMA_PARTS_H
#define TRAINYARD_ENGINE_FIELD_SCHEMA_PARTS_H

#include "engine/field_schema.h"

extern const struct field_schema FIELD_SCHEMA_AFFINITY[], FIELD_SCHEMA_CONTAINER[],
    FIELD_SCHEMA_POD_SECURITY[], FIELD_SCHEMA_POD_SPEC[], FIELD_SCHEMA_TOLERATION[],
    FIELD_SCHEMA_VOLUME[], FIELD_SCHEMA_WORKFLOW_SPEC[];

#endif
