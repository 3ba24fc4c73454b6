#!/bin/bash
# Who owns which field: the real server still answers the scenarios of server-side apply as it did when its answers were written down
# (tests/unit/engine/data/apply_answers.json), which ours are held against in every `make test`. "record" as an argument writes them anew.
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

kubectl create -f "$definition" || { echo 'skipped: this cluster has a TFJob of its own'; exit 77; }
wait_established -f "$definition"
answers() { kubectl get --raw /apis/kubeflow.org/v1/namespaces/apply/tfjobs; }
wait_until 'the kind to be served' answers
"$KUBERNETES/record-apply" "$KUBECONFIG" "$data/apply_scenarios.json" >"$SCRATCH/answers.json"
if [ "${1:-}" = record ]; then
    cp "$SCRATCH/answers.json" "$data/apply_answers.json"
else
    diff "$data/apply_answers.json" "$SCRATCH/answers.json"
fi
