#!/bin/bash
# With `up --share DIR` every pod reads and writes a directory of the machine at the same path, also below /tmp. Files that are hidden from
# pods stay hidden in it. The next `up` shares the same directory. As root and as an ordinary user.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

PLACE=$(mktemp -d /tmp/trainyard-share.XXXXXX) # below /tmp, even if TMPDIR is another directory
clean_up() { rm -rf "$PLACE"; }

pod() { # NAME SCRIPT [LINES-OF-THE-SPEC]
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 0
${3:-  restartPolicy: Never}
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, $(jq -Rs . <<<"$2")]
YAML
}
says() { # POD TEXT
    wait_for_phase "$1" Succeeded
    assert_eq "the output of pod $1" "$2" "$(kubectl logs "$1")"
}
refused() { # DIR REASON
    local said
    ! said=$(as_user "$TRAINYARD" up --port 0 --share "$1" 2>&1) || fail "'$1' can be shared"
    assert_contains "why '$1' cannot be shared" "$2" "$said"
}

check_refusals() {
    local hidden=$HOME/.ssh
    as_user mkdir -p "$hidden/deep" "$TRAINYARD_STATE/pods"
    refused "$SCRATCH/missing" "cannot share '$SCRATCH/missing': No such file or directory"
    refused "$share/file" "it is not a directory"
    refused / "belongs to the system"
    refused /proc/sys "belongs to the system"
    refused /tmp "every pod has its own; share a directory below it"
    refused "$HOME" "a pod could change your keys"
    refused "$(dirname "$HOME")" "a pod could change your keys"
    refused "$hidden/deep" "holds secrets and is hidden from pods"
    refused "$TRAINYARD_STATE/pods" "'$TRAINYARD_STATE' holds secrets"
}

check() {
    local share=$PLACE/data other=$HOME/project words
    as_user mkdir -p "$share/deep/er" "$other"
    as_user tee "$share/file" >/dev/null <<<"data"
    check_refusals

    # A relative path, a symbolic link, the same directory by two names, and a directory below another shared one.
    as_user ln -s "$share" "$PLACE/link"
    (cd "$PLACE" && as_user "$TRAINYARD" up --port 0 --share data/deep --share data --share link --share "$other" --kubeconfig "$share/deep/er/config") >"$SCRATCH/up.log" ||
        fail "up: $(cat "$SCRATCH/up.log")"
    CLUSTER_UP=yes
    KUBECONFIG=$share/deep/er/config
    assert_contains "up" "pods read and write $share
pods read and write $other" "$(cat "$SCRATCH/up.log")"
    ! grep "pods read and write $share/deep" "$SCRATCH/up.log" || fail "a directory below another shared one is shared separately: a pod could replace it by a symbolic link"
    pod writes "cat $share/file; echo one >$share/one; echo two >$other/two; ls /tmp | grep share"
    says writes "data
$(basename "$PLACE")"
    assert_eq "the files that the pod wrote" "one two" "$(cat "$share/one") $(cat "$other/two")"
    pod reads "cat $share/one; cd $share/deep; wc -c <er/config; { mv er x || mv ../deep ../x || rm er/config; } 2>/dev/null || echo kept"
    says reads "one
0
kept"
    [ -s "$KUBECONFIG" ] || fail "a pod removed the kubeconfig"
    kubectl create -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: own}
spec:
  restartPolicy: Never
  volumes: [{name: own, emptyDir: {}}]
  containers:
  - {name: main, image: trainyard/tools, command: [ls, -A, $share], volumeMounts: [{name: own, mountPath: $share}]}
YAML
    says own ""

    # The directory is still shared after a crash of the server and after the next `up`.
    pod stays "while :; do test ! -e $share/file || echo seen; sleep 0.2; done" '  restartPolicy: Always'
    wait_for_log stays seen
    kill -9 "$(server_pid)"
    wait_until "the server to be restarted" kubectl get nodes
    pod again "cat $share/file"
    says again data
    as_user "$TRAINYARD" down >/dev/null
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
    cluster_up
    assert_contains "a later up" "pods read and write $share" "$(cat "$SCRATCH/up.log")"
    pod later "cat $share/file"
    says later data

    # If a shared directory no longer exists, `up` fails and prints what to do. With `--share none`, pods that existed before lose the
    # directory too.
    as_user "$TRAINYARD" down >/dev/null
    mv "$other" "$other.away"
    words=$(as_user "$TRAINYARD" up --port 0 2>&1) && fail "up shares a directory that does not exist"
    assert_contains "a directory that does not exist" "'trainyard up --share none'" "$words"
    mv "$other.away" "$other"
    cluster_up --share none
    words=$(cat "$SCRATCH/up.log")
    [[ $words != *"pods read and write"* ]] || fail "up --share none shares a directory: $words"
    pod none "test -e $share/file || echo hidden"
    says none hidden
    hidden_in_stays() { kubectl exec stays -- sh -c "test ! -e $share/file"; }
    wait_until "the older pod to run without the directory" hidden_in_stays
    cluster_wipe
    rm -rf "$share" "$other" "$PLACE/link" "$HOME/.ssh"
}

check
become_ordinary_user
[ ${#AS_USER[@]} = 0 ] || chown 65534:65534 "$PLACE"
check
