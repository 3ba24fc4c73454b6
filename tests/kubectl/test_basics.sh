#!/bin/bash
# Everyday kubectl commands, with the kubectl of Debian 12 and, if there is one, the machine's own.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

check() {
    kubectl create namespace yard
    assert_contains "get namespaces" "yard" "$(kubectl get ns)"
    cat >"$SCRATCH/objects.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: yard, labels: {team: face}}
data: {mode: fast}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models, namespace: yard}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Service
metadata: {name: hello, namespace: yard}
spec:
  clusterIP: None
  selector: {app: hello}
  ports: [{name: http, port: 80}]
---
apiVersion: v1
kind: Pod
metadata: {name: hello, namespace: yard, labels: {app: hello}}
spec:
  restartPolicy: Never
  nodeSelector: {disktype: worker-2}
  volumes:
  - {name: models, persistentVolumeClaim: {claimName: models}}
  - {name: scratch, emptyDir: {}}
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c]
    args: ['echo "hello from $(hostname) on $NODE"; echo kept >/models/file; touch /scratch/x; exit 3']
    env:
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    volumeMounts:
    - {name: models, mountPath: /models}
    - {name: scratch, mountPath: /scratch}
YAML
    kubectl apply -f "$SCRATCH/objects.yaml"
    assert_contains "apply again" "configmap/settings unchanged" "$(kubectl apply -f "$SCRATCH/objects.yaml")"
    sed -i 's/mode: fast/mode: slow/' "$SCRATCH/objects.yaml"
    assert_contains "apply a change" "configmap/settings configured" "$(kubectl apply -f "$SCRATCH/objects.yaml")"
    assert_eq "the changed value" slow "$(kubectl get -n yard cm settings -o jsonpath='{.data.mode}')"

    # No node has the label yet: describe shows why the pod is pending.
    unscheduled() { kubectl describe -n yard pod hello | finds "didn't match"; }
    wait_until "describe to show why the pod is pending" unscheduled
    kubectl label nodes node-2 disktype=worker-2
    ended() { [ "$(kubectl get -n yard pod hello -o jsonpath='{.status.phase}')" = Failed ]; }
    wait_until "the pod to end" ended
    assert_eq "logs" "hello from hello on node-2" "$(kubectl logs -n yard hello)"
    assert_eq "logs -f of an ended pod" "hello from hello on node-2" "$(kubectl logs -f -n yard hello)"
    assert_eq "exit code" 3 "$(kubectl get -n yard pod hello -o jsonpath='{.status.containerStatuses[0].state.terminated.exitCode}')"

    assert_contains "get pods" "Error" "$(kubectl get pods -n yard)"
    assert_contains "get -o wide" "node-2" "$(kubectl get pods -n yard -o wide)"
    assert_contains "get -A" "yard" "$(kubectl get pods -A)"
    assert_contains "get --show-labels" "app=hello" "$(kubectl get pods -n yard --show-labels)"
    assert_contains "get -o yaml" "nodeName: node-2" "$(kubectl get pod hello -n yard -o yaml)"
    assert_contains "get -l" "hello" "$(kubectl get pods -n yard -l app=hello -o name)"
    assert_eq "get -l of none" "" "$(kubectl get pods -n yard -l app=other -o name)"
    assert_contains "get pvc" "Bound" "$(kubectl get pvc -n yard)"
    assert_contains "get nodes" "Ready" "$(kubectl get nodes)"
    assert_contains "get svc" "None" "$(kubectl get svc -n yard)"
    assert_contains "get events" "hello" "$(kubectl get events -n yard)"
    for kind in pod/hello svc/hello cm/settings pvc/models; do
        assert_contains "describe $kind" "Name:" "$(kubectl describe -n yard "$kind")"
    done
    assert_contains "describe node" "disktype=worker-2" "$(kubectl describe node node-2)"
    assert_contains "the label in a column" "worker-2" "$(kubectl get nodes -L disktype)"

    assert_contains "get -o json" '"nodeName": "node-2"' "$(kubectl get pod hello -n yard -o json)"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: yard}\n' >"$SCRATCH/made.yaml"
    assert_contains "create -f" "configmap/made created" "$(kubectl create -f "$SCRATCH/made.yaml")"
    if kubectl create -f "$SCRATCH/made.yaml" 2>"$SCRATCH/err"; then fail "created twice"; fi
    assert_contains "create -f again" '"made" already exists' "$(cat "$SCRATCH/err")"

    # `logs -f` shows a log while it grows, and ends with the container.
    kubectl run -n yard talker --image trainyard/tools --restart Never --command -- \
        bash -c 'echo first; for i in 1 2 3 4 5; do read -rt 0.1 <> <(:) || echo tick; done; echo last'
    talker_started() { kubectl get -n yard pod talker -o jsonpath='{.status.phase}' | finds -E 'Running|Succeeded'; }
    wait_until "the talker to run" talker_started
    followed=$(kubectl logs -f -n yard talker)
    assert_eq "the first followed line" first "$(head -1 <<<"$followed")"
    assert_eq "the last followed line" last "$(tail -1 <<<"$followed")"

    # A watch shows changes until its process is killed.
    "$KUBECTL" get pods -n yard -w >"$SCRATCH/watch" &
    watch=$!
    watched() { grep -q "$1" "$SCRATCH/watch"; }
    wait_until "the watch to list" watched hello
    kubectl run -n yard second --image trainyard/tools --restart Never --command -- sleep 100000
    wait_until "the watch to show the new pod running" watched "second.*Running"
    kill $watch
    wait $watch 2>/dev/null || true

    kubectl delete -n yard pod second --grace-period 0 --force
    kubectl delete -n yard pod hello
    kubectl delete namespace yard
    gone() { ! kubectl get namespace yard; }
    wait_until "the namespace to go" gone

    if kubectl get pod nobody 2>"$SCRATCH/err"; then fail "got a pod that is not there"; fi
    assert_eq "an error" 'Error from server (NotFound): pods "nobody" not found' "$(cat "$SCRATCH/err")"
}

cluster_up --nodes 3
for KUBECTL in $(printf '%s\n' "$KUBECTL" "$(PATH=/usr/local/bin:/usr/bin:/bin type -P kubectl || true)" | sort -u); do
    echo "with $KUBECTL"
    check
    kubectl label nodes node-2 disktype-
done
