#!/bin/bash
# The conformance suite of TFJobs (tests/conformance) on a real Kubernetes, with the operator as install.yaml sets it up.
. "$(dirname "$0")/lib.sh"
with_operator

IMAGE=trainyard/conformance:1
"$ROOT/tools/image" --name $IMAGE --output "$SCRATCH/image.tar" "$BUILD/tests/conformance/conformance-replica"
"$KUBERNETES/node" import "$SCRATCH/image.tar"

# Kills both replicas of the operator. The kubelet starts them again.
cat >"$SCRATCH/restart" <<SH
. "$KUBERNETES/common.sh"
for process in \$(node_run pgrep -f '^/usr/bin/trainyard operator'); do node_run kill -9 "\$process"; done
SH

"$ROOT/tests/conformance/run" --kubectl "$KUBECTL" --image $IMAGE --restart-operator "bash $SCRATCH/restart" |
    tee "$SCRATCH/said" || fail "the conformance suite: $(sed -n '/^failed: /,$p' "$SCRATCH/said")"
