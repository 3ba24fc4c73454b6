#!/bin/bash
# When a helper process of the pod network is killed (kill -9), it is replaced and running pods keep their network. While no pod can be
# started, the nodes are not Ready.
# shellcheck disable=SC2119 source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# Copy the programs, so that the test can remove one of them.
own_programs() {
    mkdir -p "$SCRATCH/bin"
    cp "$BUILD/trainyard" "$BUILD/trainer" "$BUILD/trainyard-step" "$SCRATCH/bin"
    TRAINYARD=$SCRATCH/bin/trainyard
}

process_of() { pgrep -f "trainyard-step $1 .*$TRAINYARD_STATE"; } # MODE
is_another() {                                                    # MODE OLD-PID
    local pid
    pid=$(process_of "$1") && [ "$pid" != "$2" ]
}
node_ready() { kubectl get node node-1 -o jsonpath="{.status.conditions[?(@.type=='Ready')]['status','reason']}"; }
node_ready_is() { [ "$(node_ready)" = "$1" ]; }
event_told() { kubectl get events --field-selector "involvedObject.name=node-1,reason=$1" -o name | finds .; } # REASON
note() { as_user "$TRAINYARD" status -o json | jq -r '.note // ""'; }
holder_is_missed() { [[ "$(note)" == *"the process that holds the pod network has ended"* ]]; }
holder_is_not_missed() { ! holder_is_missed; }

run_pod() { # NAME COMMAND
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  containers:
  - {name: main, image: trainyard/tools, command: [$2]}
YAML
}

# Succeeds if the pod reaches the server by its pod IP and by the name of its service. The name needs the proxy and the name server.
reaches() { # POD
    kubectl exec "$1" -- curl -sf --max-time 20 "http://$(kubectl get pod server -o jsonpath='{.status.podIP}'):8000/" &&
        kubectl exec "$1" -- curl -sf --max-time 20 http://server:8000/
}

check() {
    cluster_up
    run_pod server '/usr/bin/python3, -m, http.server, "8000", -d, /usr/share/doc/bash'
    run_pod old 'sleep, "100000"'
    kubectl expose pod server --port 8000
    wait_for_phase server Running
    wait_for_phase old Running
    wait_until "the old pod to reach the server" reaches old

    # The holder is killed and no other can be started: the node is not Ready, and status, an event and the log say so.
    mv "$SCRATCH/bin/trainyard-step" "$SCRATCH/bin/taken-away"
    holder=$(process_of hold)
    kill -KILL "$holder"
    wait_until "the node not to be Ready" node_ready_is "False NetworkUnavailable"
    wait_until "status to report the missing holder" holder_is_missed
    wait_until "the event NodeNotReady" event_told NodeNotReady
    grep -q 'the holder of the pod network has ended: starting another' "$TRAINYARD_STATE/trainyard.log" ||
        fail "the log does not report the missing holder"
    reaches old || fail "the old pod lost its network with the holder"
    run_pod new 'sleep, "100000"'
    assert_eq "the phase of a new pod without a holder" Pending "$(kubectl get pod new -o jsonpath='{.status.phase}')"

    mv "$SCRATCH/bin/taken-away" "$SCRATCH/bin/trainyard-step"
    wait_until "another holder" is_another hold "$holder"
    wait_until "the node to be Ready" node_ready_is "True KubeletReady"
    wait_until "status to report no missing holder" holder_is_not_missed
    wait_until "the event NodeReady" event_told NodeReady
    wait_for_phase new Running
    wait_until "the new pod to reach the server" reaches new
    reaches old || fail "the old pod does not reach the server through the new holder"
    assert_eq "restarts of the old pods" "0 0" \
        "$(kubectl get pods server old -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}')"

    # The other helper processes of the network.
    for mode in proxy names hold; do
        pid=$(process_of $mode)
        kill -KILL "$pid"
        wait_until "another trainyard-step $mode" is_another $mode "$pid"
        wait_until "the old pod to reach the server after the end of $mode" reaches old
    done
    if pid=$(process_of way-out | sed -n 1p) && [ -n "$pid" ]; then
        kill -KILL "$pid"
        wait_until "another egress program" is_another way-out "$pid"
    fi

    # After a kill of the server, the next server uses the same holder.
    holder=$(process_of hold)
    kill -KILL "$(server_pid)"
    wait_until "the next server" kubectl get nodes
    assert_eq "the holder after a restart of the server" "$holder" "$(process_of hold)"
    wait_until "the old pod to reach the server after a restart" reaches old
    assert_eq "restarts of the old pods" "0 0" \
        "$(kubectl get pods server old -o jsonpath='{.items[*].status.containerStatuses[0].restartCount}')"
    cluster_wipe
}

own_programs
check
become_ordinary_user
check
