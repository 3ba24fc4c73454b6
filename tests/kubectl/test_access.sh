#!/bin/bash
# Authentication and authorization with the real kubectl: accounts, tokens and roles, from outside the cluster and from inside a pod; as
# root and as an ordinary user.
. "$(dirname "$0")/../lib/lib.sh"

refused() { # WHAT TEXT COMMAND…
    local what=$1 text=$2
    shift 2
    if "$@" >"$SCRATCH/out" 2>&1; then fail "$what was not refused: $(cat "$SCRATCH/out")"; fi
    assert_contains "$what" "$text" "$(cat "$SCRATCH/out")"
}

# A pod that mounts the directory of this test's kubectl, which may not be in the pod's PATH.
pod() { # NAME SCRIPT [MORE-SPEC [RESTART-POLICY]]
    kubectl apply -f - <<YAML >/dev/null
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  restartPolicy: ${4:-Never}
${3:-}
  volumes: [{name: tools, hostPath: {path: $(dirname "$KUBECTL")}}]
  containers:
  - name: main
    image: any
    volumeMounts: [{name: tools, mountPath: /tools}]
    command: [sh, -c, '$2']
YAML
}

ran_again() {
    [ "$(kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].restartCount}')" = 1 ] && [ -n "$(kubectl logs "$1")" ]
}

# The token of an account, requested as a client without `create token` does.
token_of() { # ACCOUNT
    kubectl create --raw "/api/v1/namespaces/default/serviceaccounts/$1/token" -f - <<<'{}' |
        sed -n 's/.*"token":"\([^"]*\)".*/\1/p'
}

# Run kubectl with another account's token.
with_token() { # TOKEN ARGUMENT…
    local token=$1
    shift
    sed "s/token: .*/token: $token/" "$KUBECONFIG" >"$SCRATCH/other"
    chmod 644 "$SCRATCH/other"
    kubectl --kubeconfig "$SCRATCH/other" "$@"
}

check() {
    local who='User "system:serviceaccount:default:builder"' token
    assert_contains "the first roles" 'cluster-admin' "$(kubectl get clusterroles)"
    assert_eq "the owner" yes "$(kubectl auth can-i '*' '*')"
    refused "impersonating a user without rights" 'User "builder" cannot list resource "pods"' kubectl get pods --as builder

    kubectl create serviceaccount builder >/dev/null
    token=$(token_of builder)
    refused "a list without a right" \
        "pods is forbidden: $who cannot list resource \"pods\" in API group \"\" in the namespace \"default\"" \
        with_token "$token" get pods
    refused "nodes without a right" 'in API group "" at the cluster scope' with_token "$token" get nodes
    assert_eq "a right that it does not have" no "$(with_token "$token" auth can-i list pods || true)"

    kubectl create role pod-reader --verb=get,list,watch --resource=pods >/dev/null
    kubectl create rolebinding read-pods --role=pod-reader --serviceaccount=default:builder >/dev/null
    assert_contains "roles as a table" 'Role/pod-reader' "$(kubectl get rolebindings)"
    assert_eq "a right that it has now" yes "$(with_token "$token" auth can-i list pods)"
    with_token "$token" get pods >/dev/null 2>&1
    refused "another namespace" 'in the namespace "kube-system"' with_token "$token" -n kube-system get pods
    kubectl create secret generic hush --from-literal=a=b >/dev/null
    refused "a secret" "secrets \"hush\" is forbidden: $who cannot get" with_token "$token" get secret hush

    # An account that may write roles can grant only rights that it has itself.
    kubectl create role giver --verb=create --resource=roles.rbac.authorization.k8s.io >/dev/null
    kubectl create rolebinding give --role=giver --serviceaccount=default:builder >/dev/null
    with_token "$token" create role copy --verb=get --resource=pods >/dev/null
    refused "a role beyond its own" 'is attempting to grant RBAC permissions not currently held' \
        with_token "$token" create role more --verb=get --resource=secrets
    refused "a binding to another role" 'cannot change roleRef' \
        kubectl patch rolebinding give -p '{"roleRef":{"name":"pod-reader"}}'

    # Inside a pod: the token is mounted at its usual path, and kubectl finds the API server as any program in a cluster does.
    pod stranger "/tools/kubectl get pods || true; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace"
    pod none 'ls /var/run/secrets/kubernetes.io || echo nothing' '  automountServiceAccountToken: false'
    wait_for_phase stranger Succeeded
    pod reader "/tools/kubectl get pods --selector app=stranger -o jsonpath={.items[0].status.podIP}" \
        '  serviceAccountName: builder'
    wait_for_phase reader Succeeded
    wait_for_phase none Succeeded
    assert_eq "a pod with the right" "$(kubectl get pod stranger -o jsonpath='{.status.podIP}')" "$(kubectl logs reader)"
    assert_contains "a pod without the right" \
        'pods is forbidden: User "system:serviceaccount:default:default" cannot list' "$(kubectl logs stranger)"
    assert_contains "its namespace" default "$(kubectl logs stranger)"
    assert_contains "a pod without a token" nothing "$(kubectl logs none)"
    refused "a pod with a missing account" 'error looking up service account default/ghost: serviceaccount "ghost" not found' \
        pod ghost true '  serviceAccountName: ghost'

    # After a reboot of the machine, volumes are filled again, because they were written without waiting for the disk.
    local directory
    pod sleeper "wc -c </var/run/secrets/kubernetes.io/serviceaccount/token; exec sleep inf" '' Always
    wait_for_phase sleeper Running
    directory=$TRAINYARD_STATE/pods/$(kubectl get pod sleeper -o jsonpath='{.metadata.uid}')
    as_user "$TRAINYARD" down >/dev/null
    sed -i 's/^boot .*/boot another/' "$directory/spec"
    : >"$(echo "$directory"/volumes/kube-api-access-*/token)"
    cluster_up
    wait_until "sleeper to run again" ran_again sleeper
    [ "$(kubectl logs sleeper)" -gt 500 ] || fail "no token after a reboot of the machine: $(kubectl logs sleeper)"

    # The objects that every namespace has are created again when they are deleted.
    kubectl delete configmap kube-root-ca.crt >/dev/null
    wait_until "the certificate to come back" kubectl get configmap kube-root-ca.crt

    # A token becomes invalid when its account is deleted.
    kubectl delete serviceaccount builder >/dev/null
    refused "a token of a deleted account" 'must be logged in' with_token "$token" get pods
    refused "a token with a wrong signature" 'must be logged in' with_token "${token%?????}AAAAA" get pods
}

cluster_up
check
cluster_wipe
become_ordinary_user
cluster_up
check
