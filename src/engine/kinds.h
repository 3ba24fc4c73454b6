/* The hooks of each kind, one file a kind; the registry's table names them. All are pure: an object
 * in, an object or complaints out. */
#ifndef TRAINYARD_ENGINE_KINDS_H
#define TRAINYARD_ENGINE_KINDS_H

#include "base/json.h"
#include "engine/field_error.h"

/* pod_defaults.c, pod_validate.c */
void pod_defaults(struct arena *arena, struct json *pod);
void pod_create(struct arena *arena, struct json *pod);
void pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old);

/* service.c */
void service_defaults(struct arena *arena, struct json *service);
void service_create(struct arena *arena, struct json *service);
void service_validate(struct field_errors *errors, const struct json *service,
                      const struct json *old);

/* config_data.c: ConfigMap and Secret */
void configmap_validate(struct field_errors *errors, const struct json *map,
                        const struct json *old);
void secret_defaults(struct arena *arena, struct json *secret);
void secret_validate(struct field_errors *errors, const struct json *secret,
                     const struct json *old);

/* volume.c: PersistentVolumeClaim and PersistentVolume */
void claim_defaults(struct arena *arena, struct json *claim);
void claim_create(struct arena *arena, struct json *claim);
void claim_validate(struct field_errors *errors, const struct json *claim, const struct json *old);
void volume_defaults(struct arena *arena, struct json *volume);
void volume_create(struct arena *arena, struct json *volume);
void volume_validate(struct field_errors *errors, const struct json *volume,
                     const struct json *old);

/* namespace.c */
void namespace_create(struct arena *arena, struct json *namespace_);

/* tfjob.c */
void tfjob_create(struct arena *arena, struct json *job);
void tfjob_validate(struct field_errors *errors, const struct json *job, const struct json *old);

#endif
