/* Declares the parts that the rows of all training kinds share (kube/kinds/kind.h). A row defines
 * how the API serves a kind. Each kind has its row in its own file (tfjob_kind.c,
 * pytorchjob_kind.c). */
#ifndef TRAINYARD_OPERATOR_KIND_TRAINING_ROW_H
#define TRAINYARD_OPERATOR_KIND_TRAINING_ROW_H

#include "kube/kinds/row.h"
#include "operator/kind/training_types.h"

/* training_columns.c */
enum { TRAINING_COLUMN_COUNT = 4 };
extern const struct kube_column TRAINING_COLUMNS[TRAINING_COLUMN_COUNT];

/* The Scale of a training job counts its workers. `specs_` is the member of spec that contains the
 * replicas. */
#define TRAINING_SCALE(specs_)                                                                     \
    {                                                                                              \
        .spec_path = "spec." specs_ ".Worker.replicas",                                            \
        .status_path = "status.replicaStatuses.Worker.active",                                     \
        .selector_path = "status.replicaStatuses.Worker.selector", .any_case = "Worker"            \
    }

/* training_hooks.c: removes the status from a new job, because only the operator may set it. */
void training_row_create(struct arena *arena, struct json *job);
/* Validates a job. `type` is the type of the kind, and `specs` is the member of spec that contains
 * the replicas. `old` is the job before an update, or NULL. */
void training_row_validate(struct field_errors *errors, const struct schema_object *type,
                           const char *specs, const struct json *job, const struct json *old);

/* tfjob_v1alpha1.c: converts a job of v1beta1 to v1 in place. */
void tfjob_convert_v1beta1(struct arena *arena, struct json *job);
/* Adds an error if the job has the list of replicas of v1alpha1. The message shows the job as it is
 * written in v1. */
void tfjob_refuse_list(struct field_errors *errors, const struct json *job);

#endif
