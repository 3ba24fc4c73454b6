#!/bin/bash
# Many pods deleted at once, and a large object: all files of the pods go, also those that a killed server left, and
# /metrics tells of the turns of the server's loop meanwhile. Reduced but for scale > 1.
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
wait_until "the namespace to go" is_namespace_gone first
wait_until "the files of the pods to go" is_without_pods

# Every turn is in both histograms, and the longest is in one of the buckets.
kubectl get --raw /metrics >"$SCRATCH/metrics"
value() { sed -n "s/^trainyard_loop_turn_$1 //p" "$SCRATCH/metrics"; }
[ "$(value cpu_seconds_count)" -gt "$before" ] || fail "no turn was counted"
assert_eq "the turns of both histograms" "$(value cpu_seconds_count)" "$(value wall_seconds_count)"
assert_eq "the turns in the last bucket" "$(value cpu_seconds_count)" "$(value 'cpu_seconds_bucket{le="+Inf"}')"
awk -v longest="$(value cpu_longest_seconds)" -v sum="$(value cpu_seconds_sum)" 'BEGIN { exit !(longest > 0 && longest <= sum) }' ||
    fail "the longest turn: $(value cpu_longest_seconds) of $(value cpu_seconds_sum) seconds in all"

# A server that is killed while it removes pods leaves the rest to the next one.
make_pods second
wait_until "the pods to be done" are_done second
kubectl delete namespace second --wait=false
kill -9 "$(server_pid)"
cluster_up --nodes 2
wait_until "the second namespace to go" is_namespace_gone second
wait_until "the files of its pods to go" is_without_pods
