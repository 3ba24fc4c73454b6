/* The kinds that `trainyard up` serves besides those of Kubernetes, for tests that start an engine.
 * A test that includes this header must link the operator and the pipeline. */
#ifndef TRAINYARD_TESTS_LIB_SERVED_KINDS_H
#define TRAINYARD_TESTS_LIB_SERVED_KINDS_H

#include "operator/kind/training_kind.h"
#include "pipeline/spec/workflow_kind.h"

static const struct kube_kind *const SERVED_KINDS[] = {&TFJOB_KIND, &PYTORCHJOB_KIND,
                                                       &WORKFLOW_KIND, NULL};

#endif
