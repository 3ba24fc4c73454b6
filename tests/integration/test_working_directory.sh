#!/bin/bash
# A container without workingDir runs in "/", as in Kubernetes, and can write there. Its files are on the disk, count for the limit of
# ephemeral storage, and are deleted with the pod. As root and as an ordinary user; without namespaces too.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

pod() { # NAME SCRIPT [LINES-OF-THE-CONTAINER]
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, $(jq -Rs . <<<"$2")]
${3:-}
YAML
}
says() { # POD TEXT
    wait_for_phase "$1" Succeeded
    assert_eq "the output of pod $1" "$2" "$(kubectl logs "$1")"
}
files_of() { echo "$TRAINYARD_STATE/pods/$1"; }

check() {
    local uid
    cluster_up

    # `helm test` of a new chart does this: a program downloads a page and saves it in the working directory.
    pod writes 'pwd; python3 -c "open(\"index.html\", \"w\").write(\"fetched\")"; cat index.html; mkdir -p models/1; touch /models/1/x; ls models/1'
    says writes "/
fetchedx"
    pod closed 'touch x 2>/dev/null || echo closed; pwd' '    securityContext: {readOnlyRootFilesystem: true}'
    says closed "closed
/"
    pod elsewhere 'pwd; echo words >out; cat out' '    workingDir: /app/of/mine'
    says elsewhere "/app/of/mine
words"

    # `kubectl exec` runs in the same directory, and `kubectl cp` copies files into it.
    pod stays 'echo mine >out; sleep 100000'
    wait_for_phase stays Running
    wait_until "the pod's file" kubectl exec stays -- test -s out
    assert_eq "exec" "/ mine" "$(kubectl exec stays -- pwd) $(kubectl exec stays -- cat out)"
    echo copied >"$SCRATCH/copied"
    kubectl cp "$SCRATCH/copied" stays:/copied
    assert_eq "kubectl cp" copied "$(kubectl exec stays -- cat copied)"
    uid=$(uid_of stays)
    [ "$(cat "$(files_of "$uid")/layers/main/upper/copied")" = copied ] || fail "the files are not on the disk"
    kubectl delete pod stays
    wait_until "the files of the pod to be deleted" test ! -e "$(files_of "$uid")"

    # The files count for the limit of ephemeral storage.
    pod full 'head -c 20000000 /dev/zero >out; sleep 100000' '    resources: {limits: {ephemeral-storage: 5Mi}}'
    wait_for_phase full Failed
    assert_contains "a pod over its limit" 'limit of containers 5Mi' "$(kubectl get pod full -o jsonpath='{.status.reason} {.status.message}')"

    cluster_wipe
    cluster_up --plain
    pod plain 'echo words >out; cat out; pwd'
    wait_for_phase plain Succeeded
    uid=$(uid_of plain)
    assert_eq "without namespaces" "words
$(files_of "$uid")/layers/main" "$(kubectl logs plain)"
    cluster_wipe
}

check
become_ordinary_user
check
