/* Kubernetes' protobuf bodies, read by the field tables into the same trees as every other body.
 * kubectl from 1.32 on sends them for many of its own commands (create namespace, drain, …) and
 * takes no no for an answer, and so do programs in a cluster with what they write about themselves;
 * answers stay JSON, which all accept. Fields that no table names are skipped, as protobuf wants
 * it. */
#ifndef TRAINYARD_KUBE_SCHEMA_PROTOBUF_H
#define TRAINYARD_KUBE_SCHEMA_PROTOBUF_H

#include "kube/schema/schema.h"

enum { SCHEMA_PROTOBUF_DEPTH_MAX = 32, SCHEMA_PROTOBUF_FIELDS_MAX = 1000 * 1000 };

/* One message, in the form that schema_decode() gives a typed object; ERR_BAD_REQUEST for bytes
 * that are none. */
int schema_protobuf_read(struct arena *arena, const struct schema_object *type, const void *data,
                         size_t size, struct json **ret, struct err *err);

/* The type of objects with this apiVersion and kind; NULL if there is none. */
typedef const struct schema_object *schema_find_type(const void *context, const char *api_version,
                                                     const char *kind);

/* A whole body: "k8s\0", the envelope with apiVersion and kind, the object in it. A kind that is
 * not read from protobuf is ERR_MEDIA_TYPE. `find` looks up the type; `context` is passed to it. */
int schema_protobuf_read_body(struct arena *arena, schema_find_type *find, const void *context,
                              const void *data, size_t size, struct json **ret, struct err *err);

#endif
