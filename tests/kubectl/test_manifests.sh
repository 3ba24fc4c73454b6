#!/bin/bash
# manifests/install.yaml can be applied client-side and then server-side without a conflict: in values that have a single owner as a
# whole, the file contains the fields that the server would fill in.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
INSTALL=$ROOT/manifests/install.yaml

kubectl apply -f "$INSTALL"
kubectl apply --server-side -f "$INSTALL" || fail "a server-side apply after a plain one"
kubectl apply --server-side -f "$INSTALL" || fail "a second server-side apply"

# This server ignores the definitions in the file, because it has its own. Under another group they are ordinary custom resources.
echo "two field managers share the containers of a job"
sed 's/kubeflow\.org/copy.example/g' "$ROOT/manifests/crds.yaml" | kubectl apply -f -
wait_established crd/tfjobs.copy.example
job() { # CONTAINER
    printf '{"apiVersion": "copy.example/v1", "kind": "TFJob", "metadata": {"name": "shared"}, "spec": {"tfReplicaSpecs": {"Worker":
        {"template": {"spec": {"containers": [{"name": "tensorflow", %s}]}}}}}}' "$1"
}
job '"image": "i", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 1}]' |
    kubectl apply --server-side --field-manager=one -f -
job '"env": [{"name": "B", "value": "2"}], "ports": [{"containerPort": 2}]' | kubectl apply --server-side --field-manager=two -f -
assert_eq "the fields of both managers" 'i A=1 B=2 1/TCP 2/TCP' "$(kubectl get tfjobs.copy.example shared -o json | jq -r \
    '.spec.tfReplicaSpecs.Worker.template.spec.containers[0] | [.image] + [.env[] | "\(.name)=\(.value)"] + [.ports[] | "\(.containerPort)/\(.protocol)"] | join(" ")')"

echo "a mistake in a template is found"
refused=$(job '"image": "i", "command": ["sleep", 2]' | kubectl create --validate=false -f - 2>&1) && fail "accepted: a number in a command"
assert_contains "the refusal" 'spec.tfReplicaSpecs.Worker.template.spec.containers[0].command[1] in body must be of type string: "integer"' "$refused"
refused=$(job '"image": "i", "comand": ["sh"]' | kubectl create --validate=true -f - 2>&1) && fail "accepted: a misspelt field"
assert_contains "the refusal" 'comand' "$refused"
