#!/bin/bash
# The disk of the state directory is full to the last byte:
# - /readyz, `trainyard status` and the node's conditions report it, and the server logs it once.
# - Objects can be read and deleted, including a namespace that is not empty and running pods.
# - The server can start although no byte is free.
# - As soon as there is free space again, everything works again without a restart.
# shellcheck disable=SC2119
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

[ "$(id -u)" = 0 ] || exit 0 # only root can mount a small tmpfs
mkdir -p "$SCRATCH/disk"
mount -t tmpfs -o size=64m none "$SCRATCH/disk"
export TRAINYARD_STATE=$SCRATCH/disk/state KUBECONFIG=$SCRATCH/disk/state/kubeconfig
clean_up() { ! mountpoint -q "$SCRATCH/disk" || { "$TRAINYARD" down --wipe >/dev/null; CLUSTER_UP=no; umount -l "$SCRATCH/disk"; }; }

can_write() { kubectl create configmap "room-$RANDOM-$RANDOM" --from-literal=a=b; }
cannot_write() { ! can_write; }
phase() { kubectl get pod "$1" -o jsonpath='{.status.phase}'; }
runs() { [ "$(phase talker)" = Running ] && [ "$(phase forced)" = Running ]; }
condition() { kubectl get nodes -o jsonpath='{.items[0].status.conditions[?(@.type=="DiskPressure")].status}'; }
has_pressure() { [ "$(condition)" = True ]; }
ready() { kubectl get --raw '/readyz?verbose' 2>&1; }
is_ready() { [[ $(ready) == *"readyz check passed"* ]]; }
is_restarted() {
    local now
    now=$(server_pid) && [ -n "$now" ] && [ "$now" != "$pid" ]
}
log_lines() { grep -c "$1" "$TRAINYARD_STATE/trainyard.log" || true; }
fill() { head -c 100M /dev/zero >"$SCRATCH/disk/filler" 2>/dev/null || true; }
refill() { head -c 100M /dev/zero >>"$SCRATCH/disk/filler" 2>/dev/null || true; }

cluster_up
for i in 1 2 3; do kubectl create configmap "c$i" --from-literal=a=b >/dev/null; done
kubectl create namespace shop >/dev/null
kubectl -n shop create configmap c --from-literal=a=b >/dev/null
for name in talker forced; do
    kubectl apply -f - >/dev/null <<YAML
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$name"}, "spec": {"tolerations": [{"operator": "Exists"}], "containers": [
    {"name": "main", "image": "trainyard/tools", "command": ["sleep", "1000"]}]}}
YAML
done
wait_until "the pods to run" runs
assert_contains "readyz with room" "[+]store ok" "$(ready)"

fill
wait_until "writes to be rejected" cannot_write
refill
assert_contains "the rejection" "no space is left for '$TRAINYARD_STATE/store.db': free some disk space to continue" "$(can_write 2>&1 || true)"
assert_contains "readyz" "[-]store failed: no space is left on its disk; only deletions are accepted until some is freed" "$(ready)"
assert_eq "livez" ok "$(kubectl get --raw /livez)"
assert_contains "status" "disk        full" "$("$TRAINYARD" status)"
assert_eq "status as JSON" true "$("$TRAINYARD" status -o json | jq .diskFull)"
wait_until "the node's condition DiskPressure" has_pressure
assert_contains "a read" c1 "$(kubectl get configmaps -o name)"

kubectl delete configmap c1 c2 >/dev/null
kubectl delete pod talker >/dev/null # with its grace period; its last state cannot be written
kubectl delete pod forced --grace-period=0 --force >/dev/null 2>&1
kubectl delete namespace shop >/dev/null
assert_eq "objects that still exist" "" "$(kubectl get pod/talker pod/forced namespace/shop -o name --ignore-not-found 2>/dev/null || true)"
assert_eq "the config map that was not deleted" configmap/c3 "$(kubectl get configmap c3 -o name)"

# The disk space that the first server reserved is enough for one further start.
"$TRAINYARD" down >/dev/null
refill
cluster_up
assert_contains "status of a new server" "disk        full" "$("$TRAINYARD" status)"
kubectl delete configmap c3 >/dev/null
"$TRAINYARD" down >/dev/null
refill
assert_contains "a start without free space" "the disk of '$TRAINYARD_STATE' is full: 0 bytes are free, and a start needs 1048576; delete files" \
    "$("$TRAINYARD" up --port 0 2>&1 || true)"
assert_contains "a new cluster" "the disk of '$SCRATCH/disk/other' is full: 0 bytes are free, and a start needs 20971520; delete files" \
    "$("$TRAINYARD" up --port 0 --state "$SCRATCH/disk/other" 2>&1 || true)"
truncate -s -2M "$SCRATCH/disk/filler"
assert_contains "another node" "cannot add the nodes because the disk of '$TRAINYARD_STATE' is full" \
    "$("$TRAINYARD" up --port 0 --nodes 2 2>&1 || true)"
cluster_up --nodes 1

rm "$SCRATCH/disk/filler"
wait_until "writes to succeed again" can_write
wait_until "the server to be ready" is_ready
assert_eq "status with free space again" "" "$("$TRAINYARD" status | grep ^disk || true)"
# One line per server process and per change of the state.
assert_eq "lines of the log about the full disk" 4 "$(log_lines 'until then only deletions are written')"
assert_eq "lines of the log about free space again" 1 "$(log_lines 'the disk has free space again')"

# A server that crashes while the disk is full is restarted.
kubectl create configmap c4 --from-literal=a=b >/dev/null
fill
wait_until "writes to be rejected" cannot_write
refill
pid=$(server_pid)
kill -9 "$pid"
wait_until "the server to come back" is_restarted
kubectl delete configmap c4 >/dev/null
rm "$SCRATCH/disk/filler"
cluster_wipe
