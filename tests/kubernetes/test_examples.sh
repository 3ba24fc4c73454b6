#!/bin/bash
# The examples in real containers. They are applied as they stand but for what a cluster without a registry asks for: images are
# the ones imported here, and where an example runs this machine's own programs, the container sees this machine's /usr.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/kubernetes/jobs.sh
. "$KUBERNETES/jobs.sh"
with_operator

"$ROOT/tools/image" --name trainyard/trainer:1 --output "$SCRATCH/trainer.tar" "$TRAINER"
"$KUBERNETES/node" import "$SCRATCH/trainer.tar"

clean_up() { kubectl delete persistentvolumeclaims,persistentvolumes --all; }

tools=()
for directory in /usr /lib /lib64 /etc/alternatives; do [ ! -d $directory ] || tools+=("$directory"); done

# example KUBECTL-OPTION… : apply one, with its claims bound to directories of the test. $more is added to what its programs are told.
more=
example() {
    kubectl create --dry-run=client -o json "$@" | jq -s --arg more "$more" --arg shared "/var/lib/$NAMESPACE" '
        [.[] | if .kind == "List" then .items[] else . end] as $items
        | ($ARGS.positional | map({name: ("tools" + gsub("/"; "-")), path: .})) as $tools
        | [$items[] | select(.kind == "PersistentVolumeClaim")
           | {apiVersion: "v1", kind: "PersistentVolume", metadata: {name: .metadata.name},
              spec: {accessModes: .spec.accessModes, capacity: .spec.resources.requests, hostPath: {path: $shared},
                     claimRef: {namespace: "'"$NAMESPACE"'", name: .metadata.name}}}] + $items
        | map((.. | select(.containers?)) |= (
            if .containers[0].image == "trainyard/tools" then
                .volumes += ($tools | map({name, hostPath: {path}}))
                | .containers[] |= (.image = "trainyard/busybox:1" | .volumeMounts += ($tools | map({name, mountPath: .path, readOnly: true})))
                | if $more == "" then . else .containers[].command += [$more] end
            else .containers[].image = "trainyard/trainer:1" end))
        | {apiVersion: "v1", kind: "List", items: .}' --args "${tools[@]}" >"$SCRATCH/example.json"
    kubectl apply -f "$SCRATCH/example.json"
}
has_succeeded() { [ "$(kubectl get "$1" "$2" -o jsonpath='{.status.conditions[?(@.type=="Succeeded")].status}')" = True ]; }
wait_for_success() { wait_until "$1 $2 to succeed" has_succeeded "$1" "$2"; } # KIND NAME

echo 'a program that reads TF_CONFIG'
example -k "$ROOT/examples/tf-config"
wait_for_success tfjob line
assert_contains 'the chief of the line' 'step 200 slope 2.9' "$(kubectl logs line-chief-0)"

echo 'PyTorch, three replicas'
more=--epochs=2
example -k "$ROOT/examples/pytorch"
wait_for_log ddp-master-0 'rank 0 of 3 is ready'
wait_for_success pytorchjob ddp
kubectl logs ddp-master-0

echo 'a gang, without a scheduler for gangs'
example -f "$ROOT/examples/gang/tfjob.yaml"
wait_for_success tfjob gang

echo 'born suspended'
example -f "$ROOT/examples/suspend/tfjob.yaml"
wait_for_tfjob suspend Suspended
assert_eq 'pods of a suspended job' '' "$(of_job suspend pods)"
kubectl patch tfjob suspend --type merge -p '{"spec":{"runPolicy":{"suspend":false}}}'
wait_for_success tfjob suspend

assert_nothing_left
