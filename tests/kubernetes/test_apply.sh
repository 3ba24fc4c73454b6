#!/bin/bash
# Server-side apply: the real server still gives the recorded answers to the scenarios (tests/unit/engine/data/apply_answers.json). Every
# `make test` compares our answers with them. With the argument "record" this script records the answers again.
. "$(dirname "$0")/lib.sh"

data=$KUBERNETES/../unit/engine/data
definition=$KUBERNETES/tfjobs-for-apply.json

# shellcheck disable=SC2317 # lib.sh calls it
clean_up() {
    kubectl delete clusterrolebinding,clusterrole,storageclass,priorityclass apply-made --ignore-not-found
    kubectl delete node,persistentvolume made --ignore-not-found
    kubectl delete namespace apply apply-other --ignore-not-found
    kubectl delete -f "$definition" --ignore-not-found
}

kubectl create -f "$definition" || { echo 'skipped: this cluster already has a definition of TFJob'; exit 77; }
wait_established -f "$definition"
answers() { kubectl get --raw /apis/kubeflow.org/v1/namespaces/apply/tfjobs; }
wait_until 'the kind to be served' answers
"$KUBERNETES/record-apply" "$KUBECONFIG" "$data/apply_scenarios.json" >"$SCRATCH/answers.json"
if [ "${1:-}" = record ]; then
    cp "$SCRATCH/answers.json" "$data/apply_answers.json"
else
    diff "$data/apply_answers.json" "$SCRATCH/answers.json"
fi
