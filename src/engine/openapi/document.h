/* Whole OpenAPI documents as JSON trees, of the kinds that the registry serves now: one document
 * for all in version 2, one per group and version in version 3. */
#ifndef TRAINYARD_ENGINE_OPENAPI_DOCUMENT_H
#define TRAINYARD_ENGINE_OPENAPI_DOCUMENT_H

#include "engine/kinds/registry.h"

struct json *openapi_document_v2(struct arena *arena, const struct registry *registry,
                                 const char *program_version);
/* The group and version must be served. */
struct json *openapi_document_v3(struct arena *arena, const struct registry *registry,
                                 const char *program_version, const char *group,
                                 const char *version);

#endif
