#!/bin/bash
# When the server is killed (kill -9) during writes, no acknowledged write is lost, and the pods keep running.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

rounds=$((3 * SCALE))
cluster_up
kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: counter}
spec:
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c, 'n=0; while true; do echo $((n++)); read -t 0.05 <> <(:) || true; done']
YAML
wait_for_phase counter Running
started=$(kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].state.running.startedAt}')

port() { as_user "$TRAINYARD" status -o json | sed -n 's/.*"port":\([0-9]*\).*/\1/p'; }

# Creates config maps one after the other, and records the name of each whose creation was acknowledged with 201.
writer() { # NUMBER PORT
    local i=0 code
    while true; do
        code=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$TRAINYARD_STATE/pki/ca.crt" \
            -H "Authorization: Bearer $(cat "$TRAINYARD_STATE/token")" -H 'Content-Type: application/json' \
            -d "{\"metadata\":{\"name\":\"w$1-$i\"}}" \
            "https://127.0.0.1:$2/api/v1/namespaces/default/configmaps") || break
        [ "$code" = 201 ] && echo "w$1-$i" >>"$SCRATCH/acknowledged.$round"
        i=$((i + 1))
    done
}

for round in $(seq $rounds); do
    touch "$SCRATCH/acknowledged.$round"
    writers=()
    for w in 1 2 3; do
        writer "$round-$w" "$(port)" &
        writers+=($!)
    done
    enough() { [ "$(wc -l <"$SCRATCH/acknowledged.$round")" -ge $((20 + RANDOM % 40)) ]; }
    wait_until "writes to be acknowledged" enough
    kill -9 "$(server_pid)"
    cluster_up # at once: the killed server may not have exited completely
    wait "${writers[@]}" || true
    kubectl get configmaps -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' | sort >"$SCRATCH/kept"
    sort "$SCRATCH"/acknowledged.* >"$SCRATCH/promised"
    lost=$(comm -23 "$SCRATCH/promised" "$SCRATCH/kept")
    [ -z "$lost" ] || fail "round $round: acknowledged writes were lost: $lost"
    echo "round $round: $(wc -l <"$SCRATCH/promised") acknowledged, none lost"
done

# A server that was killed a moment ago still holds its lock. A server that got SIGTERM holds it longer. `up` must wait for the lock instead
# of reporting that a cluster is running already. (Until the server has handled SIGTERM, the cluster does run.)
has_handled_term() { [ ! -e "$TRAINYARD_STATE/run/server.json" ]; }
for signal in KILL KILL KILL TERM; do
    old=$(server_pid)
    kill -"$signal" "$old"
    [ $signal = KILL ] || wait_until "the server to handle SIGTERM" has_handled_term
    cluster_up
    [ "$(server_pid)" != "$old" ] || fail "up after SIG$signal took the ending server for a running one"
    kubectl get nodes >/dev/null || fail "the server does not answer after SIG$signal and up"
done

wait_for_phase counter Running
assert_eq "start time of the pod" "$started" \
    "$(kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].state.running.startedAt}')"
assert_eq "restarts of the pod" 0 "$(kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].restartCount}')"
kubectl logs counter >"$SCRATCH/log"
seq 0 $(($(wc -l <"$SCRATCH/log") - 1)) | cmp - "$SCRATCH/log" || fail "the pod's log has a gap"
