#!/bin/bash
# The Kubeflow SDK (kubeflow-training 1.9) trains functions as PyTorchJob and TFJob, reads their logs and deletes them.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
"$BUILD/clients/kubeflow/bin/python" "$ROOT/tests/clients/kubeflow_sdk.py" || fail "the Kubeflow SDK got an unexpected answer"
