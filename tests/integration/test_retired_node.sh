#!/bin/bash
# The cluster starts with fewer nodes than before: the missing node and its pods are not ready. The files of those pods are kept until the
# pods are deleted. The pods continue when their node is back. As root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
is_ready() { [ "$(kubectl get node "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')" = "$2" ]; } # NODE STATUS
is_tainted() { [[ $(kubectl get node "$1" -o jsonpath='{.spec.taints[*].key}') == *unreachable* ]]; }
is_unschedulable() { [ "$(field "$1" '.status.conditions[?(@.type=="PodScheduled")].reason')" = Unschedulable ]; }
shows() { [ "$(kubectl get pod "$1" --no-headers | awk '{ print $2, $3 }')" = "$2" ]; } # NAME "READY STATUS"
says() { [ "$(kubectl logs "$1")" = "$2" ]; } # NAME TEXT
serves() { [ -n "$(kubectl get endpoints "$1" -o jsonpath='{.subsets[*].addresses[*].ip}')" ]; } # SERVICE
serves_nobody() { ! serves "$1"; }
is_kept() { [ -d "$TRAINYARD_STATE/pods/$1" ]; } # UID
is_swept() { [ ! -e "$TRAINYARD_STATE/pods/$1" ]; }
pod() { # NAME RESTART-POLICY SCRIPT
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 1
  nodeSelector: {kubernetes.io/hostname: node-2}
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - {name: before, image: trainyard/tools, command: [/bin/true]}
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, '$3']
    volumeMounts: [{name: v, mountPath: /v}]
YAML
}

check_without_node() {
    local uid
    wait_until "the missing node to be Ready=Unknown" is_ready node-2 Unknown
    wait_until "the taint of the missing node" is_tainted node-2
    assert_contains "why the node is not ready" "the cluster was started without this node" "$(kubectl describe node node-2)"

    wait_until "the pod of the missing node not to be ready" shows stays "0/1 NodeNotReady"
    assert_contains "why the pod is not ready" "the cluster was started without node 'node-2'" "$(kubectl describe pod stays)"
    wait_until "the pod's address to leave the Endpoints" serves_nobody stays
    assert_eq "the pod's finished init container" Completed "$(field stays .status.initContainerStatuses[0].state.terminated.reason)"
    assert_eq "a pod that had ended there" "0/1 Completed" "$(kubectl get pod 'done' --no-headers | awk '{ print $2, $3 }')"
    assert_eq "the log of a pod that had ended there" 'done' "$(kubectl logs 'done')"
    is_kept "$(uid_of stays)" || fail "the files of a pod whose node is missing were deleted"

    uid=$(uid_of "$1")
    kubectl delete pod "$1"
    wait_until "the directory of a pod to be deleted with the pod, although its node is missing" is_swept "$uid"
}

check() {
    cluster_up --nodes 2
    wait_until "the second node" is_ready node-2 True
    kubectl create service clusterip stays --tcp=80
    pod stays Always 'echo run >>/v/runs; cat /v/runs; exec sleep 100000'
    pod goes Always 'exec sleep 100000'
    pod killed Always 'exec sleep 100000'
    pod 'done' Never 'echo done'
    wait_for_phase goes Running
    wait_for_phase killed Running
    wait_for_phase 'done' Succeeded
    wait_until "the address of the pod on the second node" serves stays

    as_user "$TRAINYARD" down
    cluster_up --nodes 1
    check_without_node goes
    assert_eq "the log of a pod whose node is missing" run "$(kubectl logs stays)"
    pod there Always 'exec sleep 100000'
    wait_until "a new pod for the missing node to be Unschedulable" is_unschedulable there

    # The node is back: its pods continue with their files, and the pod that waited for the node starts.
    as_user "$TRAINYARD" down
    cluster_up --nodes 2
    wait_for_phase there Running
    wait_until "the pod to run again with its data" says stays "$(printf 'run\nrun')"
    assert_eq "the previous log of the pod" run "$(kubectl logs stays --previous)"
    wait_until "the pod's address to be in the Endpoints again" serves stays
    wait_until "the pod to be ready" shows stays "1/1 Running"
    assert_eq "the pod's restarts" 1 "$(field stays .status.containerStatuses[0].restartCount)"

    # A killed server leaves its pods running. The next server ends those of the missing node.
    kill -9 "$(server_pid)"
    cluster_up --nodes 1
    check_without_node killed
    assert_eq "the processes of a pod whose node is missing" "" "$(pgrep -f "trainyard-step pod .*/$(uid_of stays)\$")"
    kill -9 "$(server_pid)"
    cluster_up --nodes 2
    wait_until "the pod to run again with its data" says stays "$(printf 'run\nrun\nrun')"
    cluster_wipe
}

check
become_ordinary_user
check
