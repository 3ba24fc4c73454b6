#!/bin/bash
# No pod can read the admin's kubeconfig, and so the token in it, wherever --kubeconfig puts the file and by whatever path the pod tries.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# Pods have their own /tmp. So the files of the machine that they shall see are in other directories.
PLACES=()
clean_up() {
    local place
    for place in "${PLACES[@]}"; do ! mountpoint -q "$place.bound" || umount "$place.bound"; done
    rm -rf "${PLACES[@]}" "${PLACES[@]/%/.bound}"
}
make_place() {
    local above=/opt
    [ "$(id -u)" = 0 ] || above=$USER_HOME
    place=$(mktemp -d "$above/trainyard-test.XXXXXX")
    PLACES+=("$place")
    mkdir "$place/deep"
    ln -s "$place" "$SCRATCH/link-$1"
    mkdir "$place.bound"
    [ "$(id -u)" != 0 ] || mount --bind "$place" "$place.bound" # the same directory at a second path
    touch "$place/deep/real"
    ln -s deep/real "$place/alias"
    [ "$(id -u)" != 0 ] || [ ${#AS_USER[@]} = 0 ] || chown -R 65534:65534 "$place"
}

# A pod that prints the files that it finds by every path, and keeps running.
reader() {
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  automountServiceAccountToken: false
  containers:
  - name: main
    image: trainyard/tools
    command:
    - bash
    - -c
    - |
      for top in $place $place.bound /above/$(basename "$place") /linked /share /proc/1/root$place /proc/self/root$place; do
          test -d \$top || test \$top = /proc/1/root$place || echo "no \$top" # /proc/1/root may be inaccessible
          for name in mine other alias deep/real; do
              test ! -e \$top/\$name || { echo "\$top/\$name:"; cat \$top/\$name; }
          done
      done
      {
          cat /below/mine /deep/real
          rm -f /share/mine; mv /share/mine /share/moved; ln /share/mine /share/second; cat /share/moved /share/second
          unshare -Urm bash -c "umount /share/mine; cat /share/mine"
      } 2>&1
      echo it is over
      sleep 100000
    volumeMounts:
    - {name: above, mountPath: /above, readOnly: true}
    - {name: above, mountPath: /below, subPath: $(basename "$place")}
    - {name: linked, mountPath: /linked}
    - {name: share, mountPath: /share}
    - {name: share, mountPath: /deep, subPath: deep}
  volumes:
  - {name: above, hostPath: {path: $(dirname "$place")}}
  - {name: linked, hostPath: {path: $SCRATCH/link-$1}}
  - {name: share, hostPath: {path: $place}}
YAML
}

up_with() { # KUBECONFIG
    KUBECONFIG=$1
    HOME=$place cluster_up --kubeconfig "$1"
}

check_said() { # WHEN
    wait_for_log reader "it is over"
    kubectl logs reader >"$SCRATCH/said"
    assert_contains "the files that a pod finds $1" "$place/mine:" "$(cat "$SCRATCH/said")"
    ! grep "^no " "$SCRATCH/said" || fail "$1: the pod does not see a directory of the kubeconfig"
    ! grep -F "$(cat "$TRAINYARD_STATE/token")" "$SCRATCH/said" || fail "$1: a pod reads the admin's token: $(cat "$SCRATCH/said")"
    ! grep "token:" "$SCRATCH/said" || fail "$1: a pod reads a kubeconfig"
}

check() { # NUMBER
    make_place "$1"
    UP_OPTIONS=(--no-restart) # at first the test starts the next server itself
    up_with "$place/mine"
    reader "$1" | kubectl apply -f -
    check_said "after the first start"

    # The pod continues after the next start. It was planned when the second kubeconfig did not exist.
    as_user "$TRAINYARD" down
    up_with "$place/other"
    restarted() { [ "$(kubectl get pod reader -o jsonpath='{.status.containerStatuses[0].restartCount}')" = 1 ]; }
    wait_until "the pod to run again" restarted
    check_said "after the second start"
    assert_contains "the path of the second kubeconfig in the pod" "$place/other:" "$(cat "$SCRATCH/said")"

    # A killed server leaves its pods running. The next server does not write a kubeconfig at a path that is not hidden in those pods.
    kill -KILL "$(server_pid)"
    if HOME=$place as_user "$TRAINYARD" up --port 0 --kubeconfig "$place/alias" >"$SCRATCH/out" 2>&1; then fail "up wrote a kubeconfig that running pods can read"; fi
    assert_contains "a new path of the kubeconfig while pods run" "the running pods could read" "$(cat "$SCRATCH/out")"
    [ ! -s "$place/deep/real" ] || fail "up failed, but wrote the kubeconfig nevertheless"
    # A kubeconfig that is hidden in the pods is written again, with another port.
    inode=$(stat -c %i "$place/other")
    up_with "$place/other"
    assert_eq "inode of the kubeconfig" "$inode" "$(stat -c %i "$place/other")"
    assert_eq "the content of the new kubeconfig in a running pod" "" "$(kubectl exec reader -- cat "$place/other" "/share/other" "/linked/other")"

    # If the path of the kubeconfig is a symbolic link, its target must not be readable.
    as_user "$TRAINYARD" down
    UP_OPTIONS=()
    up_with "$place/alias"
    [ -L "$place/alias" ] || fail "the link was replaced"
    assert_eq "mode of the kubeconfig" 600 "$(stat -c %a "$place/deep/real")"
    restarted_again() { [ "$(kubectl get pod reader -o jsonpath='{.status.containerStatuses[0].restartCount}')" = 2 ]; }
    wait_until "the pod to run again" restarted_again
    check_said "with a kubeconfig behind a link"
    assert_contains "the path of the third kubeconfig in the pod" "$place/deep/real:" "$(cat "$SCRATCH/said")"
    for name in mine other deep/real; do
        grep -qF "$(cat "$TRAINYARD_STATE/token")" "$place/$name" || fail "$name has lost its token"
    done

    # A server that is restarted after a crash does not write a kubeconfig that was removed. It serves requests nevertheless.
    mv "$place/deep/real" "$SCRATCH/kubeconfig"
    KUBECONFIG=$SCRATCH/kubeconfig
    kill -KILL "$(server_pid)"
    not_written() { grep -q "the kubeconfig was not written" "$TRAINYARD_STATE/trainyard.log"; }
    wait_until "the next server" not_written
    kubectl get nodes
    [ ! -e "$place/deep/real" ] || fail "the restarted server wrote a kubeconfig that pods can read"
    cluster_wipe
}

check 1
become_ordinary_user
check 2
