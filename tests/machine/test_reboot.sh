#!/bin/bash
# The machine reboots cleanly, and later is reset without a warning. After the next `up`, pods of every restart policy, a Job and the data
# of a claim are in the expected state, for root and for an ordinary user in a delegated scope at once. Nothing of the previous boot is
# left.
# shellcheck disable=SC2016,SC2119 # the shells of the pods expand them
# shellcheck source=tests/machine/lib.sh
. "$(dirname "$0")/lib.sh"

each_user() { # COMMAND…: run it for both users, one after the other; their clusters run side by side
    AS_USER=() SCOPE=()
    keep_state /var/lib/trainyard-reboot
    "$@"
    become_person
    delegate_scope
    keep_state /home/person/trainyard-reboot
    "$@"
}

# A pod appends a line to a file in each volume, waits until it is on disk (as a program does that must not lose it), and then becomes
# ready.
template() { # NAME POLICY COMMAND
    cat <<YAML
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 5
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: kept, emptyDir: {}}
  - {name: fresh, emptyDir: {medium: Memory}}
  containers:
  - name: main
    image: trainyard/tools
    command: [sh, -c, 'for v in data kept fresh; do echo ran >>/\$v/runs; done; sync; touch /tmp/synced; $3']
    readinessProbe: {exec: {command: [test, -e, /tmp/synced]}, periodSeconds: 1, timeoutSeconds: 60}
    volumeMounts: [{name: data, mountPath: /data, subPath: $1}, {name: kept, mountPath: /kept}, {name: fresh, mountPath: /fresh}]
YAML
}
pod() { # NAME POLICY COMMAND
    printf -- '---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n' "$1"
    template "$@"
}
objects() {
    cat <<'YAML'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  template:
YAML
    template job OnFailure '[ -e /data/end ] || exec sleep 100000' | sed 's/^/    /'
    pod always Always 'exec sleep 100000'
    pod onfailure OnFailure 'exec sleep 100000'
    pod never Never 'exec sleep 100000'
    pod finished OnFailure 'exit 0'
}

begin() {
    cluster_up
    objects | kubectl create -f -
    local name
    for name in always onfailure never 'job-*'; do wait_until "pod $name to be ready" is_ready "$name"; done
    wait_for_phase finished Succeeded
}

runs_again() { restarted "$1" "$2" && is_ready "$1"; }        # POD RESTARTS
lines_of() { wc -l <"$TRAINYARD_STATE/volumes/default/data/$1/runs"; } # POD: the lines in its part of the claim

# Every run is counted and has written its line. There may be one run more than boots, if the machine stopped a container before its
# supervisor.
check_runs() { # POD BOOTS
    watched restarts "$1"
    [ "$WATCHED_AS" -le $(($2 + 1)) ] || fail "$1 was restarted $WATCHED_AS times"
    assert_eq "lines of $1 in the claim" $((WATCHED_AS + 1)) "$(lines_of "$1")"
}

check_again() { # BOOTS: how often the machine was started again
    [ "$1" = 1 ] || touch "$TRAINYARD_STATE/volumes/default/data/job/end"
    cluster_up
    wait_until "the pod that always runs to be ready" runs_again always "$1"
    wait_until "the pod that runs until it succeeds to be ready" runs_again onfailure "$1"
    wait_for_phase never Failed
    wait_for_phase finished Succeeded
    check_runs always "$1"
    check_runs onfailure "$1"
    assert_eq "lines in the emptyDir on disk, and in the one in memory" "$(lines_of always) 1" \
        "$(kubectl exec always -- sh -c 'for v in kept fresh; do wc -l </$v/runs; done' | xargs)"
    assert_eq "runs of a pod that never runs again, and of one that had finished" "1 1" "$(lines_of never) $(lines_of finished)"
    assert_eq "the boot of the node" "$(cat /proc/sys/kernel/random/boot_id)" "$(kubectl get nodes -o jsonpath='{.items[0].status.nodeInfo.bootID}')"
    case $1 in
        1) wait_until "the pod of the job to be ready" runs_again 'job-*' 1 ;;
        2) wait_until "the job to be complete, when it has run once more" has_condition job/job Complete ;;
    esac
    local place
    while read -r place; do
        [ -d "$place" ] || fail "run/cgroups still lists '$place' of the previous boot"
    done < <(cut -d ' ' -f 3- "$TRAINYARD_STATE/run/cgroups")
}

case ${1:-} in
    '')
        each_user begin
        reboot_machine orderly
        ;;
    orderly)
        assert_nothing_left
        each_user check_again 1
        reset_machine reset
        ;;
    reset)
        assert_nothing_left
        each_user check_again 2
        each_user cluster_wipe
        assert_nothing_left
        assert_eq "ip_forward, which is off by default on this machine" 0 "$(cat /proc/sys/net/ipv4/ip_forward)"
        ;;
esac
