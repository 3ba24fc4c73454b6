/* Whole OpenAPI documents, as JSON trees, of what the registry serves now: one of everything in
 * version 2, one a group and version in version 3. */
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
