# shellcheck shell=bash disable=SC2317,SC2034 # wait_until calls them; cluster_up uses it
# Checks that resource limits hold, on any machine and for any user. Sourced after lib.sh by tests/integration/test_limits.sh and by the
# tests of tests/machine.
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
ended_as() { [ "$(field "$1" .status.containerStatuses[0].state.terminated.reason)" = "$2" ]; }
restarted() { [ "$(field "$1" .status.containerStatuses[0].restartCount)" -ge "$2" ]; }

# Add a pod to a file. start_pods creates all of them with one request.
pod() { # NAME RESTART-POLICY SCRIPT LIMITS [ANNOTATIONS]
    cat >>"$SCRATCH/gathered.yaml" <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {${5:-}}}
spec:
  restartPolicy: $2
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: trainyard/tools, command: [sh, -c, '$3'], resources: {limits: {$4}}}
YAML
}
start_pods() {
    kubectl create -f "$SCRATCH/gathered.yaml"
    rm "$SCRATCH/gathered.yaml"
}

# The control groups of this cluster, and of one pod: one per hierarchy.
bases() { cut -d' ' -f3- "$TRAINYARD_STATE/run/cgroups"; }
groups_of() { # POD
    local uid base
    uid=$(uid_of "$1")
    bases | while read -r base; do [ ! -d "$base/$uid" ] || echo "$base/$uid"; done
}
has_no_groups() { # UID
    local base
    while read -r base; do [ ! -e "$base/$1" ] || return 1; done < <(bases)
}
throttled() { # POD
    local group
    for group in $(groups_of "$1"); do
        awk '$1 == "nr_throttled" && $2 > 0 { found = 1 } END { exit !found }' "$group/container-main/cpu.stat" 2>/dev/null && return 0
    done
    return 1
}

# A fork bomb reaches the limit of its own pod: its forks fail, but other pods and the API keep working.
add_bomb() {
    pod neighbour Always 'exec sleep 100000' ''
    # shellcheck disable=SC2016 # the pod's shell expands it
    pod bomb Never 'i=0; while [ $i -lt 300 ]; do sleep 100000 & i=$((i + 1)); done; echo unlimited' '' 'trainyard.dev/pids-limit: "40"'
}
check_bomb() {
    wait_until "the bomb to end" ended_as bomb Error
    assert_contains "the output of the bomb" "fork" "$(kubectl logs bomb)"
    wait_for_phase neighbour Running
    assert_eq "a program in another pod" fine "$(kubectl exec neighbour -- sh -c 'echo fine | cat')"
    assert_eq "restarts of the neighbour" 0 "$(field neighbour .status.containerStatuses[0].restartCount)"
    pod later Never 'echo later | cat' ''
    start_pods
    wait_for_phase later Succeeded
}

# Whether kubectl top shows at least MINIMUM for a pod. kubectl need not run as the user of the server.
shows_use() { # KUBECTL COLUMN MINIMUM POD
    "$1" top pods --no-headers | awk -v c="$2" -v m="$3" -v p="$4" '$1 == p && $c + 0 >= m { found = 1 } END { exit !found }'
}
add_use() {
    pod spins Always 'while :; do :; done' ''
    pod holds Always 'exec python3 -c "kept = bytearray(64 << 20); import signal; signal.pause()"' ''
}
check_top() { # FILE: the versions of kubectl, one line "VERSION PATH" each
    local version top
    add_use
    start_pods
    wait_for_phase spins Running
    wait_for_phase holds Running
    while read -r version top; do
        wait_until "kubectl $version to show the time of a pod" shows_use "$top" 2 1 spins
        wait_until "kubectl $version to show the memory of a pod" shows_use "$top" 3 64 holds
        assert_eq "top pods, the largest first, with kubectl $version" holds "$("$top" top pods --sort-by=memory --no-headers | awk 'NR == 1 { print $1 }')"
        assert_eq "top pods -A --containers with kubectl $version" "default holds main" \
            "$("$top" top pods -A --containers --no-headers | awk '$2 == "holds" { print $1, $2, $3 }')"
        assert_contains "top nodes with kubectl $version" "%" "$("$top" top nodes --no-headers)"
        assert_contains "top node NAME with kubectl $version" node-1 "$("$top" top node node-1)"
        assert_eq "top pods of an unused label with kubectl $version" "" "$("$top" top pods -l no=body --no-headers 2>/dev/null)"
    done <"$1"
    assert_eq "the columns" "NAME CPU MEMORY WINDOW" "$(kubectl get pods.metrics.k8s.io | awk 'NR == 1 { print $1, $2, $3, $4 }')"
    kubectl delete pod spins holds
}

check_enforced() {
    cluster_up
    # More memory than the limit: the kernel kills the container, the status says OOMKilled, and the policy restarts it.
    pod eater OnFailure 'exec python3 -c "bytearray(200 << 20)"' 'memory: 32Mi'
    # A child of the main process uses too much memory, and the main process ends later.
    pod parent Never 'python3 -c "bytearray(200 << 20)"; exit 3' 'memory: 32Mi'
    # A pod without a limit may use the same amount, beside the pods with a limit.
    pod free Never 'python3 -c "bytearray(200 << 20)" && echo enough' ''
    # A tenth of a processor: the kernel counts how often the container is throttled.
    pod busy Always 'while :; do :; done' 'cpu: 100m'
    add_bomb
    start_pods

    wait_until "the eater to be restarted" restarted eater 1
    assert_eq "why it ended, and its exit code" "OOMKilled 137" \
        "$(field eater '.status.containerStatuses[0].lastState.terminated.reason} {.status.containerStatuses[0].lastState.terminated.exitCode')"
    wait_until "the parent to end" ended_as parent OOMKilled
    case $(field parent .status.containerStatuses[0].state.terminated.exitCode) in
        3 | 137) ;; # with cgroups v2 the kernel kills the whole container
        *) fail "the parent's exit code: $(field parent .status.containerStatuses[0].state.terminated)" ;;
    esac
    wait_for_phase free Succeeded
    wait_until "the busy pod to be throttled" throttled busy
    check_bomb
    assert_eq "events about limits that are not enforced" "" "$(kubectl get events --field-selector reason=LimitsNotEnforced -o name)"

    # The groups of a pod are removed with it.
    local uid
    uid=$(uid_of busy)
    [ -n "$(groups_of busy)" ] || fail "the busy pod has no group"
    kubectl delete pod busy
    has_no_groups "$uid" || fail "groups of a deleted pod are left"
    uid=$(uid_of free)
    has_no_groups "$uid" || fail "groups of an ended pod are left"
}

# Call it after check_enforced, in the same control group: the server and a supervisor are killed at once. The next `up` removes the
# leftover groups, and a pod that still runs keeps its groups. Ends the cluster.
check_swept() {
    pod gone Always 'exec sleep 100000' ''
    pod stays Always 'exec sleep 100000' ''
    start_pods
    wait_for_phase gone Running
    wait_for_phase stays Running
    local gone supervisor
    gone=$(uid_of gone)
    supervisor=$(pgrep -of "trainyard-step pod .*/$gone\$")
    kill -9 "$(server_pid)" "$supervisor"
    rm -rf "$TRAINYARD_STATE/pods/$gone" # as if the pod had been deleted meanwhile
    is_ended() { ! is_alive "$supervisor"; }
    wait_until "the supervisor to be gone" is_ended
    cluster_up
    kubectl delete pod gone --grace-period=0 --force
    gone_is_swept() { has_no_groups "$gone"; }
    wait_until "the groups of a killed pod to be removed" gone_is_swept
    assert_eq "restarts of the pod that still runs" 0 "$(field stays .status.containerStatuses[0].restartCount)"
    [ -n "$(groups_of stays)" ] || fail "a running pod has lost its groups"

    # `down --wipe` removes all groups, even if the processes that created them are dead.
    local id base
    kill -9 "$(server_pid)" "$(pgrep -of "trainyard-step pod .*/$(uid_of stays)\$")"
    id=$(basename "$(bases | sed -n 1p)")
    bases >"$SCRATCH/bases"
    cluster_wipe
    while read -r base; do [ ! -e "$base" ] || fail "'$base' is left"; done <"$SCRATCH/bases"
    assert_eq "groups after down --wipe" "" "$(find /sys/fs/cgroup -type d -name "$id*")"
}

# An ordinary user without a delegated control group: one event per pod reports it, and limits that need no control group are enforced.
check_told() {
    cluster_up
    pod eater Never 'python3 -c "bytearray(200 << 20)" && echo enough' 'memory: 32Mi, cpu: 1'
    # shellcheck disable=SC2016 # the pod's shell expands it
    pod files Never 'for d in /tmp /dev/shm; do dd if=/dev/zero of=$d/f bs=1M count=64; done; true' 'memory: 32Mi'
    add_bomb
    start_pods
    wait_for_phase eater Succeeded
    wait_for_phase files Succeeded
    assert_contains "files in memory over the limit" "No space left" "$(kubectl logs files)"
    local told
    is_told() {
        told=$(kubectl get events --field-selector reason=LimitsNotEnforced,involvedObject.name=eater -o jsonpath='{range .items[*]}{.count} {.message}{"\n"}{end}')
        [ -n "$told" ]
    }
    wait_until "the event" is_told
    assert_eq "the number of events" 1 "$(grep -c . <<<"$told")"
    assert_contains "the event" "limits of cpu and memory are not enforced here" "$told"
    assert_contains "its advice" "systemd-run --user --scope -p Delegate=yes trainyard up" "$told"
    check_bomb
}
