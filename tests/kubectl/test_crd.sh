#!/bin/bash
# A custom resource: its definition is created and established; its objects are written in two versions, validated, listed with their
# columns and scaled; a wrong definition is refused; and all objects go with their definition.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

define() {
    cat >"$SCRATCH/crd.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trains.yard.example}
spec:
  group: yard.example
  scope: Namespaced
  names: {plural: trains, kind: Train, shortNames: [tr], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.cars, statusReplicasPath: .status.cars}
    additionalPrinterColumns:
    - {name: Cars, type: integer, jsonPath: .spec.cars}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Line, type: string, jsonPath: .spec.line, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [line]
            properties:
              cars: {type: integer, minimum: 0, maximum: 10, default: 1}
              line: {type: string, enum: [red, blue]}
              name: {type: string, pattern: '^[a-z]+$'}
          status:
            type: object
            properties:
              cars: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
YAML
    kubectl apply -f "$SCRATCH/crd.yaml"
    wait_established crd/trains.yard.example
}

# train NAME CARS LINE [VERSION]
train() { printf 'apiVersion: yard.example/%s\nkind: Train\nmetadata: {name: %s}\nspec: {cars: %s, line: %s}\n' "${4:-v1}" "$1" "$2" "$3"; }

check() {
    define
    train a 3 red | kubectl apply -f -
    printf 'apiVersion: yard.example/v1\nkind: Train\nmetadata: {name: b}\nspec: {line: blue}\n' | kubectl apply -f -
    assert_eq "the default" 1 "$(kubectl get train b -o jsonpath='{.spec.cars}')"
    assert_contains "by its short name" train.yard.example/a "$(kubectl get tr -o name)"
    assert_contains "in all" train.yard.example/a "$(kubectl get all -o name)"

    # The columns of get, and of get -o wide.
    kubectl get trains >"$SCRATCH/trains"
    assert_eq "the columns" "NAME CARS READY" "$(head -1 "$SCRATCH/trains" | tr -s ' ' | sed 's/ $//')"
    assert_contains "wide" LINE "$(kubectl get trains -o wide | sed -n 1p)"

    # The schema refuses invalid objects with the messages of Kubernetes.
    refused() { if "$@" >"$SCRATCH/refused" 2>&1; then fail "not refused: $*"; fi; }
    train c 11 red >"$SCRATCH/c.yaml"
    refused kubectl create -f "$SCRATCH/c.yaml"
    assert_contains "too many" 'spec.cars: Invalid value: 11: spec.cars in body should be less than or equal to 10' "$(cat "$SCRATCH/refused")"
    train c 1 green >"$SCRATCH/c.yaml"
    refused kubectl create -f "$SCRATCH/c.yaml"
    assert_contains "no such line" 'spec.line: Unsupported value: "green": supported values: "red", "blue"' "$(cat "$SCRATCH/refused")"
    refused kubectl patch train a --type merge -p '{"spec":{"line":null}}'
    assert_contains "missing" 'spec.line: Required value' "$(cat "$SCRATCH/refused")"
    refused kubectl patch crd trains.yard.example --type merge -p '{"spec":{"scope":"Cluster"}}'
    assert_contains "immutable" 'spec.scope: Invalid value: "Cluster": field is immutable' "$(cat "$SCRATCH/refused")"

    # Two versions of one object.
    train d 12 green v1beta1 | kubectl apply --validate=false -f -
    assert_eq "seen in the stored one" "yard.example/v1 12" "$(kubectl get trains.v1.yard.example d -o jsonpath='{.apiVersion} {.spec.cars}')"
    assert_eq "and in its own" yard.example/v1beta1 "$(kubectl get trains.v1beta1.yard.example d -o jsonpath='{.apiVersion}')"

    # Subresources.
    kubectl scale train a --replicas 5
    assert_eq "scaled" 5 "$(kubectl get train a -o jsonpath='{.spec.cars}')"
    kubectl get --raw /apis/yard.example/v1/namespaces/default/trains/a >"$SCRATCH/a.json"
    sed 's/"spec":{/"status":{"cars":4,"conditions":[{"type":"Ready","status":"True"}]},"spec":{/' "$SCRATCH/a.json" >"$SCRATCH/status.json"
    kubectl replace --raw /apis/yard.example/v1/namespaces/default/trains/a/status -f "$SCRATCH/status.json" >/dev/null
    assert_eq "its status" "4 5" "$(kubectl get train a -o jsonpath='{.status.cars} {.spec.cars}')"
    assert_contains "the column" True "$(kubectl get train a)"

    # A definition whose schema is not structural.
    sed 's/type: integer, minimum: 0/minimum: 0/; s/trains/trams/; s/Train/Tram/; s/\[tr\]/[tm]/' "$SCRATCH/crd.yaml" >"$SCRATCH/wrong.yaml"
    refused kubectl create --validate=false -f "$SCRATCH/wrong.yaml"
    assert_contains "not structural" 'properties[spec].properties[cars].type: Required value: must not be empty for specified object fields' "$(cat "$SCRATCH/refused")"

    kubectl delete crd trains.yard.example --timeout="${PATIENCE}s"
    if kubectl get trains 2>"$SCRATCH/gone"; then fail "trains are still there"; fi
    assert_eq "no definition is left" "" "$(kubectl get crd -o name)"
}

cluster_up
for KUBECTL in $(printf "%s\n" "$(type -P "$KUBECTL")" "$(PATH=/usr/local/bin:/usr/bin:/bin type -P kubectl || true)" | sort -u); do
    echo "with $KUBECTL"
    check
done
