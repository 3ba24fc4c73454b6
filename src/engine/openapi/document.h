/* Makes whole OpenAPI documents as JSON trees from the kinds in the registry. OpenAPI version 2 has
 * one document for all kinds. Version 3 has one document per API group and version. */
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
