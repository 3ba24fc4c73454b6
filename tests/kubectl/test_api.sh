#!/bin/bash
# Less common requests of kubectl: its create commands (in protobuf from 1.32 on), dry runs, diffs, patches of each kind, misspelt fields,
# waiting, every way of deletion, cordons, drains, taints, priorities and GPUs.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

any_event_has() { kubectl get events | finds -F -- "$1"; }

check() {
    kubectl create namespace yard
    kubectl config set-context --current --namespace yard >/dev/null
    kubectl create configmap settings --from-literal=mode=fast
    kubectl create secret generic key --from-literal=word=sesame
    kubectl create serviceaccount robot
    kubectl create service clusterip web --tcp=80:8080
    assert_eq "a config map" fast "$(kubectl get cm settings -o jsonpath='{.data.mode}')"
    assert_eq "a secret" c2VzYW1l "$(kubectl get secret key -o jsonpath='{.data.word}')"
    assert_eq "a port" 8080 "$(kubectl get svc web -o jsonpath='{.spec.ports[0].targetPort}')"
    assert_eq "auth can-i" yes "$(kubectl auth can-i create tfjobs)"

    # Patches: strategic for Kubernetes' own kinds, merge for custom resources, and JSON for both.
    kubectl patch svc web -p '{"spec":{"ports":[{"port":80,"name":"http"}]}}'
    assert_eq "a strategic patch keeps the rest" 8080 "$(kubectl get svc web -o jsonpath='{.spec.ports[0].targetPort}')"
    kubectl patch cm settings --type json -p '[{"op":"replace","path":"/data/mode","value":"slow"}]'
    assert_eq "a JSON patch" slow "$(kubectl get cm settings -o jsonpath='{.data.mode}')"
    kubectl annotate cm settings why=because
    kubectl label cm settings team=face

    # A dry run changes nothing.
    kubectl create configmap settings --from-literal=mode=other -o yaml --dry-run=client >"$SCRATCH/other.yaml"
    kubectl apply --dry-run=server -f "$SCRATCH/other.yaml" 2>/dev/null
    assert_eq "after a dry run" slow "$(kubectl get cm settings -o jsonpath='{.data.mode}')"
    if kubectl diff -f "$SCRATCH/other.yaml" >"$SCRATCH/diff" 2>/dev/null; then fail "no difference seen"; fi
    assert_contains "diff" "+  mode: other" "$(cat "$SCRATCH/diff")"
    kubectl replace -f "$SCRATCH/other.yaml"
    assert_eq "after replace" other "$(kubectl get cm settings -o jsonpath='{.data.mode}')"

    # A misspelt field is refused: an old kubectl finds it itself with OpenAPI, a newer one leaves the check to the server.
    cat >"$SCRATCH/typo.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: typo}
spec:
  nodeSelector: {nowhere: "true"}
  containers: [{name: main, image: trainyard/tools, comand: [sleep, "1"]}]
YAML
    kubectl create -f "$SCRATCH/typo.yaml" >"$SCRATCH/typo.log" 2>&1 || true
    # An old kubectl prints only the name of the field, a newer one prints the server's message with its path.
    grep -Eq 'unknown field "(spec\.containers\[0\]\.)?comand"( in |$)' "$SCRATCH/typo.log" || fail "the typo: $(cat "$SCRATCH/typo.log")"
    kubectl delete pod typo --ignore-not-found

    # A cordoned node gets no new pods. A drained node loses those that it has.
    kubectl cordon node-1
    kubectl run sleeper --image trainyard/tools --restart Never --command -- sleep 100000
    waits() { [ "$(kubectl get pod sleeper -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].reason}')" = Unschedulable ]; }
    wait_until "the pod to be unschedulable" waits
    wait_until "the event" any_event_has "node(s) were unschedulable"
    kubectl uncordon node-1
    kubectl wait --for=condition=Ready pod/sleeper --timeout="${PATIENCE}s"
    kubectl drain node-1 --force --timeout="${PATIENCE}s" --grace-period 0
    kubectl uncordon node-1
    if kubectl get pod sleeper 2>/dev/null; then fail "a drained node still has its pod"; fi

    # A NoExecute taint evicts a pod. A pod of higher priority preempts another.
    kubectl run sleeper --image trainyard/tools --restart Never --command -- sleep 100000
    kubectl wait --for=condition=Ready pod/sleeper --timeout="${PATIENCE}s"
    kubectl taint nodes node-1 closed=yes:NoExecute
    wait_until "the pod to be driven away" is_gone pod sleeper
    wait_until "the event" any_event_has "Marking for deletion Pod yard/sleeper"
    kubectl taint nodes node-1 closed-
    kubectl create priorityclass urgent --value 1000
    all_cpus=$(kubectl get node node-1 -o jsonpath='{.status.allocatable.cpu}')
    for name in slow urgent; do
        class=$([ $name = slow ] || echo urgent)
        kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $name}
spec:
  priorityClassName: $class
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: trainyard/tools, command: [sleep, "100000"], resources: {requests: {cpu: "$all_cpus"}}}]
YAML
        kubectl wait --for=condition=Ready pod/$name --timeout="${PATIENCE}s"
    done
    if kubectl get pod slow 2>/dev/null; then fail "two pods that each request the whole node exist"; fi
    wait_until "the event" any_event_has "Preempted by yard/urgent on node node-1"
    assert_eq "its priority" 1000 "$(kubectl get pod urgent -o jsonpath='{.spec.priority}')"
    kubectl delete pod urgent
    kubectl delete priorityclass urgent

    # A quota limits the objects of a namespace.
    kubectl create quota little --hard=pods=1,count/configmaps=10
    kubectl run first --image trainyard/tools --restart Never --command -- sleep 100000
    if kubectl run second --image trainyard/tools --restart Never --command -- sleep 1 2>"$SCRATCH/quota"; then fail "not refused"; fi
    assert_contains "the refusal" "exceeded quota: little, requested: pods=1, used: pods=1, limited: pods=1" "$(cat "$SCRATCH/quota")"
    used() { kubectl describe quota little | finds -E '^pods +1 +1$'; }
    wait_until "the quota to show what is used" used
    kubectl delete pod first --grace-period 0 --force
    freed() { [ "$(kubectl get quota little -o jsonpath='{.status.used.pods}')" = 0 ]; }
    wait_until "the place to be free" freed
    kubectl delete quota little

    # A GPU is given as a whole, and to one container only.
    for name in one two three; do
        kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: gpu-$name}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, 'echo "$name has <\$CUDA_VISIBLE_DEVICES>"; sleep 100000'], resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: side, image: trainyard/tools, command: [sh, -c, 'echo "$name has <\$CUDA_VISIBLE_DEVICES>"; sleep 100000']}
YAML
    done
    kubectl wait --for=condition=Ready pod/gpu-one pod/gpu-two --timeout="${PATIENCE}s"
    devices() { kubectl logs gpu-one -c main && kubectl logs gpu-two -c main && kubectl logs gpu-one -c side; }
    have_printed() { [ "$(devices | grep -c has)" = 3 ]; }
    wait_until "the pods to print their GPUs" have_printed
    assert_eq "the GPU of each container" "one has <0> two has <1> one has <>" "$(devices | paste -sd ' ')"
    short() { kubectl describe pod gpu-three | finds 'Insufficient nvidia.com/gpu'; }
    wait_until "the third to wait" short
    kubectl delete pod gpu-one --grace-period 0 --force
    kubectl wait --for=condition=Ready pod/gpu-three --timeout="${PATIENCE}s"
    kubectl delete pod gpu-two gpu-three --grace-period 0 --force

    # The objects of a deleted owner are deleted, too.
    owner_uid=$(kubectl get cm settings -o jsonpath='{.metadata.uid}')
    for name in one two; do
        kubectl create configmap $name
        kubectl patch cm $name --type merge -p '{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"settings","uid":"'"$owner_uid"'"}]}}'
    done
    kubectl delete cm settings
    gone() { is_gone cm one && is_gone cm two; }
    wait_until "the owned objects to be deleted" gone

    kubectl delete namespace yard --timeout="${PATIENCE}s"
    kubectl config set-context --current --namespace default >/dev/null
}

cluster_up --fake-gpus 2
# Test each version that get-kubectl finds. It must look in the cache of the user, because HOME is the test's own directory.
versions=$(HOME=$(getent passwd "$(id -u)" | cut -d : -f 6) "$ROOT/tools/get-kubectl" 2>/dev/null | cut -d ' ' -f 2) || true
for KUBECTL in ${versions:-$(type -P "$KUBECTL")}; do
    echo "with $KUBECTL"
    check
done
