#!/bin/bash
# When many pods are deleted at once, all their files are deleted, also those that a killed server left. /metrics reports the iterations
# ("turns") of the server's event loop meanwhile. With TRAINYARD_TEST_SCALE > 1 there are more pods.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PODS=$((SCALE > 1 ? 600 : 200))

make_pods() { # NAMESPACE
    kubectl create namespace "$1"
    for number in $(seq $PODS); do
        cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: pod-$number, namespace: $1}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  containers: [{name: main, image: trainyard/tools, command: ["true"]}]
YAML
    done | kubectl create -f - >/dev/null
}
are_done() { [ "$(kubectl get pods -n "$1" --field-selector=status.phase=Succeeded -o name | wc -l)" = $PODS ]; }
is_without_pods() { [ -z "$(ls "$TRAINYARD_STATE/pods")" ]; }
is_namespace_gone() { ! kubectl get namespace "$1" >/dev/null 2>&1; }
metric() { kubectl get --raw /metrics | sed -n "s/^trainyard_loop_turn_$1 //p"; }

cluster_up --nodes 2
before=$(metric cpu_seconds_count)
make_pods first
wait_until "the pods to be done" are_done first
assert_eq "the directories of the pods" $PODS "$(find "$TRAINYARD_STATE/pods" -mindepth 1 -maxdepth 1 | wc -l)"
kubectl delete namespace first --wait=false
wait_until "the namespace to be deleted" is_namespace_gone first
wait_until "the files of the pods to be deleted" is_without_pods

# Both histograms count every turn, and the longest turn is not longer than the sum.
kubectl get --raw /metrics >"$SCRATCH/metrics"
value() { sed -n "s/^trainyard_loop_turn_$1 //p" "$SCRATCH/metrics"; }
[ "$(value cpu_seconds_count)" -gt "$before" ] || fail "no turn was counted"
assert_eq "the turns of both histograms" "$(value cpu_seconds_count)" "$(value wall_seconds_count)"
assert_eq "the turns in the last bucket" "$(value cpu_seconds_count)" "$(value 'cpu_seconds_bucket{le="+Inf"}')"
awk -v longest="$(value cpu_longest_seconds)" -v sum="$(value cpu_seconds_sum)" 'BEGIN { exit !(longest > 0 && longest <= sum) }' ||
    fail "the longest turn has $(value cpu_longest_seconds) s, all turns have $(value cpu_seconds_sum) s"

# If a server is killed while it removes pods, the next one removes the rest.
make_pods second
wait_until "the pods to be done" are_done second
kubectl delete namespace second --wait=false
kill -9 "$(server_pid)"
cluster_up --nodes 2
wait_until "the second namespace to be deleted" is_namespace_gone second
wait_until "the files of its pods to be deleted" is_without_pods
