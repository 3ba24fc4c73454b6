/* How the API serves Workflows: their resource, and their row (kube/kinds/kind.h). */
#ifndef TRAINYARD_PIPELINE_SPEC_WORKFLOW_KIND_H
#define TRAINYARD_PIPELINE_SPEC_WORKFLOW_KIND_H

#include "kube/kinds/kind.h"

extern const struct kube_resource WORKFLOWS_RESOURCE;
extern const struct kube_kind WORKFLOW_KIND;

/* workflow_types.c: what a Workflow looks like. */
extern const struct schema_object WORKFLOW_TYPE;

#endif
