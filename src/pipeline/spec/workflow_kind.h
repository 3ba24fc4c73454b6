/* Declares the API resource and the kind (kube/kinds/kind.h) of Workflows. */
#ifndef TRAINYARD_PIPELINE_SPEC_WORKFLOW_KIND_H
#define TRAINYARD_PIPELINE_SPEC_WORKFLOW_KIND_H

#include "kube/kinds/kind.h"

extern const struct kube_resource WORKFLOWS_RESOURCE;
extern const struct kube_kind WORKFLOW_KIND;

/* The types of a Workflow's fields, in workflow_types.c. */
extern const struct schema_object WORKFLOW_TYPE;

#endif
