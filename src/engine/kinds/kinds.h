/* The hooks of each kind, named kind_<kind>_<hook>, one file a kind; the registry's table names
 * them. All but `assign` are pure: an object in, an object or complaints out. */
#ifndef TRAINYARD_ENGINE_KINDS_H
#define TRAINYARD_ENGINE_KINDS_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

struct engine;

/* pod_defaults.c, pod_validate.c */
/* Of a pod's spec, wherever it stands. */
void kind_pod_spec_defaults(struct arena *arena, struct json *spec);
void kind_pod_defaults(struct arena *arena, struct json *pod);
void kind_pod_create(struct arena *arena, struct json *pod);
void kind_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old);

/* service.c, service_validate.c */
void kind_service_assign(struct engine *engine, struct field_errors *errors, struct json *service,
                         const struct json *old);
void kind_service_defaults(struct arena *arena, struct json *service);
void kind_service_create(struct arena *arena, struct json *service);
void kind_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old);

/* config_data.c: ConfigMap and Secret */
void kind_configmap_validate(struct field_errors *errors, const struct json *map,
                             const struct json *old);
void kind_secret_defaults(struct arena *arena, struct json *secret);
void kind_secret_validate(struct field_errors *errors, const struct json *secret,
                          const struct json *old);

/* volume.c: PersistentVolumeClaim and PersistentVolume */
void kind_claim_create(struct arena *arena, struct json *claim);
/* What a claim asks for, which stands at `field`. */
void kind_claim_validate_spec(struct field_errors *errors, const struct json *spec,
                              const char *field);
void kind_claim_validate(struct field_errors *errors, const struct json *claim,
                         const struct json *old);
void kind_volume_create(struct arena *arena, struct json *volume);
void kind_volume_validate(struct field_errors *errors, const struct json *volume,
                          const struct json *old);

/* job_defaults.c, job_validate.c */
void kind_job_defaults(struct arena *arena, struct json *job);
void kind_job_create(struct arena *arena, struct json *job);
void kind_job_validate(struct field_errors *errors, const struct json *job, const struct json *old);

/* apps.c: Deployment and ReplicaSet */
void kind_deployment_defaults(struct arena *arena, struct json *deployment);
void kind_deployment_create(struct arena *arena, struct json *deployment);
void kind_deployment_validate(struct field_errors *errors, const struct json *deployment,
                              const struct json *old);
void kind_replica_set_defaults(struct arena *arena, struct json *set);
void kind_replica_set_create(struct arena *arena, struct json *set);
void kind_replica_set_validate(struct field_errors *errors, const struct json *set,
                               const struct json *old);

/* endpoint_slice_kind.c */
void kind_endpoint_slice_defaults(struct arena *arena, struct json *slice);
void kind_endpoint_slice_validate(struct field_errors *errors, const struct json *slice,
                                  const struct json *old);

/* node_kind.c */
void kind_node_defaults(struct arena *arena, struct json *node);
void kind_node_create(struct arena *arena, struct json *node);
void kind_node_validate(struct field_errors *errors, const struct json *node,
                        const struct json *old);

/* endpoints_kind.c */
void kind_endpoints_defaults(struct arena *arena, struct json *endpoints);
void kind_endpoints_validate(struct field_errors *errors, const struct json *endpoints,
                             const struct json *old);

/* storage_class.c */
void kind_storage_class_validate(struct field_errors *errors, const struct json *class_,
                                 const struct json *old);

/* priority_class.c. Those that every cluster has: position from 0; NULL at the end. */
struct json *kind_priority_class_system(struct arena *arena, size_t position);
void kind_priority_class_validate(struct field_errors *errors, const struct json *class_,
                                  const struct json *old);

/* limit_range_kind.c */
void kind_limit_range_defaults(struct arena *arena, struct json *range);
void kind_limit_range_validate(struct field_errors *errors, const struct json *range,
                               const struct json *old);

/* resource_quota.c */
void kind_resource_quota_validate(struct field_errors *errors, const struct json *quota,
                                  const struct json *old);

/* lease.c */
void kind_lease_validate(struct field_errors *errors, const struct json *lease,
                         const struct json *old);

/* namespace.c */
void kind_namespace_defaults(struct arena *arena, struct json *namespace_);
void kind_namespace_create(struct arena *arena, struct json *namespace_);

/* role.c: Role and ClusterRole, and their bindings */
void kind_role_validate(struct field_errors *errors, const struct json *role,
                        const struct json *old);
void kind_binding_defaults(struct arena *arena, struct json *binding);
void kind_binding_validate(struct field_errors *errors, const struct json *binding,
                           const struct json *old);

/* training_job_list.c: TFJobs of v1alpha1 */
void kind_tfjob_refuse_list(struct field_errors *errors, const struct json *job);

/* training_job.c: TFJob and PyTorchJob */
void kind_tfjob_convert_v1beta1(struct arena *arena, struct json *job);
void kind_training_job_create(struct arena *arena, struct json *job);
void kind_tfjob_validate(struct field_errors *errors, const struct json *job,
                         const struct json *old);
void kind_pytorchjob_validate(struct field_errors *errors, const struct json *job,
                              const struct json *old);

/* pod_group.c: of the scheduler-plugins, and of Volcano */
void kind_pod_group_create(struct arena *arena, struct json *group);
void kind_pod_group_validate(struct field_errors *errors, const struct json *group,
                             const struct json *old);

/* workflow.c */
void kind_workflow_validate(struct field_errors *errors, const struct json *workflow,
                            const struct json *old);

#endif
