/* Decodes Kubernetes' protobuf bodies into the same JSON trees as other bodies, by the field
 * numbers of the schema. kubectl 1.32 and newer, and programs inside a cluster, send protobuf for
 * many commands (create namespace, drain, …) without a fallback. Responses are always JSON, which
 * all clients accept. Unknown field numbers are skipped, as protobuf requires. */
#ifndef TRAINYARD_KUBE_SCHEMA_PROTOBUF_H
#define TRAINYARD_KUBE_SCHEMA_PROTOBUF_H

#include "kube/schema/schema.h"

enum {
    SCHEMA_PROTOBUF_DEPTH_MAX = 32,           /* nested messages */
    SCHEMA_PROTOBUF_FIELDS_MAX = 1000 * 1000, /* fields of one object, including nested messages */
};

/* Decodes one message into an object in the form SCHEMA_FORM_TYPED of schema_decode(). Returns 0,
 * or -ERR_BAD_REQUEST if the bytes are not a message of this type. */
int schema_protobuf_read(struct arena *arena, const struct schema_object *type, const void *data,
                         size_t size, struct json **ret, struct err *err);

/* Returns the type of objects with this apiVersion and kind, or NULL if there is none. */
typedef const struct schema_object *schema_find_type(const void *context, const char *api_version,
                                                     const char *kind);

/* Decodes a whole body: "k8s\0", the envelope with apiVersion and kind, and the object in it.
 * `find` looks up the type and gets `context`. Returns 0, -ERR_BAD_REQUEST if the body is invalid,
 * or -ERR_MEDIA_TYPE if the kind cannot be read from protobuf. */
int schema_protobuf_read_body(struct arena *arena, schema_find_type *find, const void *context,
                              const void *data, size_t size, struct json **ret, struct err *err);

#endif
