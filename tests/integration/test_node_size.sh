#!/bin/bash
# `up --cpus N --memory SIZE` sets the capacity of each node. More than the machine has is allowed: `up` prints a note, and pods that
# request it run. The capacity survives a crash of the server and the next `up`.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

offers() { # NODE
    kubectl get node "$1" -o jsonpath='{.status.capacity.cpu} {.status.capacity.memory} {.status.allocatable.cpu} {.status.allocatable.memory}'
}
node_offers() { [ "$(offers "$1")" = "$2" ]; }

echo "invalid amounts"
for option in "--cpus many" "--cpus -1" "--memory 8" "--memory 8GB"; do
    # shellcheck disable=SC2086 # two words
    if "$TRAINYARD" up $option 2>"$SCRATCH/err"; then fail "up $option was accepted"; fi
    assert_contains "up $option" "${option% *}" "$(cat "$SCRATCH/err")"
done
assert_contains "an amount without a unit" "add a unit" \
    "$("$TRAINYARD" up --memory 8 2>&1 || true)"

echo "more than the machine has"
cluster_up --nodes 2 --cpus 4000.5 --memory 3Pi
assert_contains "up" "note: each node offers more than this machine has (cpu 4000500m, memory 3Pi instead of cpu $(getconf _NPROCESSORS_ONLN), memory " \
    "$(cat "$SCRATCH/up.log")"
for node in node-1 node-2; do assert_eq "$node" "4000500m 3Pi 4000500m 3Pi" "$(offers $node)"; done
kubectl create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, "echo $CPUS; sleep 1000"]
    env: [{name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]
    resources: {requests: {cpu: 4000, memory: 2Pi}}
YAML
wait_for_phase large Running
is_overcommitted() { kubectl describe pod large | finds "OverCommitted.*request 4k cpu, but it has only $(getconf _NPROCESSORS_ONLN)"; }
wait_until "the event that the machine has less" is_overcommitted
logs_are() { [ "$(kubectl logs large)" = 4001 ]; }
wait_until "the pod to see the capacity of its node" logs_are

echo "after a crash of the server"
pid=$(server_pid)
kill -9 "$pid"
is_new() { kubectl get --raw /readyz && [ "$(server_pid)" != "$pid" ]; }
wait_until "the next server" is_new
assert_eq "node-1" "4000500m 3Pi 4000500m 3Pi" "$(offers node-1)"

echo "after the next up"
"$TRAINYARD" down
cluster_up --memory 1Gi
wait_until "the new size" node_offers node-2 "4000500m 1Gi 4000500m 1Gi"
"$TRAINYARD" down
cluster_up --cpus 0 --memory 0
machine="$(getconf _NPROCESSORS_ONLN) $(awk '/^MemTotal/ { print $2 }' /proc/meminfo)Ki"
wait_until "the size of the machine" node_offers node-1 "$machine $machine"
assert_eq "annotations" "" "$(kubectl get node node-1 -o jsonpath='{.metadata.annotations}')"
