#!/bin/bash
# Faults of pods: the server is killed, the disk is full, file descriptors run out, programs do not end, supervisors are killed, the machine
# reboots or sleeps, logs grow without end. Each fault leads to a clear status, affects no other pod, and leaves nothing behind. As root and
# as an ordinary user.
# Alone: fills a disk and stops processes.
# Long: 73 s.
# shellcheck disable=SC2016,SC2119 # the shells of the pods expand the text in single quotes
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts it again itself

PODS=${TRAINYARD_TEST_PODS:-20}

pod() { # NAME POLICY SCRIPT [MORE-OF-THE-SPEC]; the pod tolerates a node whose disk is nearly full
    jq -n --arg name "$1" --arg policy "$2" --arg script "$3" --argjson more "${4:-{\}}" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name},
        spec: ({restartPolicy: $policy, tolerations: [{operator: "Exists"}], containers: [{name: "main", image: "trainyard/tools", command: ["bash", "-c", $script]}]} + $more)}' |
        kubectl apply -f - >/dev/null
}
field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
is_field() { [ "$(field "$1" "$2")" = "$3" ]; }
all_phases() { kubectl get pods -o jsonpath='{.items[*].status.phase}'; }
all_run() { [ "$(all_phases | tr ' ' '\n' | grep -c Running)" -ge "$1" ]; }

# ---- Processes, mounts, files, namespaces and control groups that may be left

own_processes() { pgrep -f "$TRAINYARD_STATE" || true; }
# Record the namespaces and control groups of the cluster's processes. check_nothing_left checks later that they are gone.
note_places() {
    local pid
    for pid in $(own_processes); do readlink /proc/"$pid"/ns/{net,ipc,uts,mnt,user,pid} 2>/dev/null || true; done |
        grep -vFf <(readlink /proc/self/ns/*) | grep -o '[0-9]*' | sort -u >"$SCRATCH/namespaces"
    [ -s "$SCRATCH/namespaces" ] || fail "pods have no namespaces of their own"
    as_user cat "$TRAINYARD_STATE/run/cgroups" >"$SCRATCH/groups" 2>/dev/null || true
}
no_processes() {
    local left
    left=$(own_processes | xargs -r ps -o pid,args -p)
    echo "$left"
    [ -z "$left" ]
}
check_nothing_left() { # WHEN
    local group
    wait_until "processes to be gone $1" no_processes # a killed process may take a moment to end
    assert_eq "mounts $1" "" "$(grep -F "$SCRATCH" /proc/self/mountinfo || true)"
    assert_eq "files $1" "" "$(find "$TRAINYARD_STATE" "$HOME/.kube/config" 2>/dev/null)"
    wait_until "namespaces to be gone $1" namespaces_gone # the kernel removes them asynchronously
    while read -r group; do
        [ ! -e "$group" ] || fail "control group $group is left $1"
    done < <(grep -o '/[^ ]*' "$SCRATCH/groups")
}
namespaces_gone() { ! lsns -n -o NS 2>/dev/null | tr -d ' ' | finds -xFf "$SCRATCH/namespaces"; }

# ---- The server is killed

numbered_without_gap() { # FILE: its lines are 1, 2, 3, …
    awk '$1 != NR { print "line " NR " is " $0; exit 1 }' "$1"
}
count_on() { local had; had=$(kubectl logs "$1" --tail=1); [ "$had" -gt "$2" ]; } # POD NUMBER

# Print the supervisors of the pods whose uid matches. The first process of a sandbox has the same arguments, but another name.
supervisors() { # UID
    local pid
    for pid in $(pgrep -f "trainyard-step pod $TRAINYARD_STATE/pods/$1\$"); do
        [ "$(cat "/proc/$pid/comm")" != trainyard-pod ] || echo "$pid"
    done
}

check_killed_server() {
    local i pids before last
    for ((i = 0; i < PODS; i++)); do pod "count-$i" Always 'exec 3<> <(:); i=0; while :; do echo $((i += 1)); read -rt 0.01 -u 3; done'; done
    wait_until "the pods to run" all_run "$PODS"
    before=$(kubectl get pods -o jsonpath='{range .items[*]}{.metadata.uid} {.status.podIP} {.status.containerStatuses[0].restartCount}{"\n"}{end}')
    pids=$(supervisors '.*' | sort)
    kill -9 "$(server_pid)"
    last=$(kubectl logs count-0 --tail=1 2>/dev/null || echo 0)
    cluster_up
    assert_eq "supervisors after the server was killed" "$pids" "$(supervisors '.*' | sort)"
    assert_eq "pods after the server was killed" "$before" \
        "$(kubectl get pods -o jsonpath='{range .items[*]}{.metadata.uid} {.status.podIP} {.status.containerStatuses[0].restartCount}{"\n"}{end}')"
    for ((i = 0; i < PODS; i++)); do
        wait_until "count-$i to continue" count_on "count-$i" "$last"
        kubectl logs "count-$i" >"$SCRATCH/count.out"
        numbered_without_gap "$SCRATCH/count.out" || fail "the log of count-$i has a gap"
    done
    kubectl delete pods --all --grace-period=0 --force >/dev/null 2>&1
}

# ---- Programs that do not end, supervisors that do

check_ends() {
    pod stubborn Never 'trap "" TERM; echo up; while :; do read -rt 1 <> <(:); done' '{"terminationGracePeriodSeconds": 1}'
    pod other Never 'echo up; exec sleep 100000'
    wait_for_log stubborn up
    wait_for_log other up
    kubectl delete pod stubborn --wait=false >/dev/null
    wait_until "the stubborn pod to be gone" is_gone pod stubborn

    kill -9 "$(supervisors "$(uid_of other)")"
    wait_for_phase other Failed
    assert_eq "reason and exit code" "ContainerStatusUnknown 137" "$(field other '.status.containerStatuses[0].state.terminated.reason') $(
        field other '.status.containerStatuses[0].state.terminated.exitCode')"
    kubectl delete pod other >/dev/null
}

# The server fails to start a supervisor, but then the supervisor runs after all: the pod's status must follow the supervisor, not the
# failed start. The start fails because a directory is in the place of supervisor.log. The test then starts the supervisor itself.
check_late_start() {
    local directory step
    [ "$(as_user id -u)" = 0 ] || return 0 # an ordinary user's supervisors run in a namespace that only the server can create
    step=$(dirname "$TRAINYARD")/trainyard-step
    pod late Never 'echo up; exec sleep 100000' '{"nodeSelector": {"late": "yes"}}'
    directory=$TRAINYARD_STATE/pods/$(uid_of late)
    mkdir -p "$directory/supervisor.log"
    kubectl label nodes --all late=yes >/dev/null
    wait_until "the start to fail" is_field late '.status.containerStatuses[0].state.waiting.reason' FailedCreatePodSandBox
    "$step" pod "$directory"
    wait_for_phase late Running
    wait_until "the container not to be waiting any more" is_field late '.status.containerStatuses[0].state.waiting.reason' ''
    [ -n "$(field late '.status.containerStatuses[0].state.running.startedAt')" ] || fail "the container does not run: $(kubectl get pod late -o yaml)"
    [ -n "$(field late .status.podIP)" ] || fail "the pod has no address"
    kubectl delete pod late --grace-period=0 --force >/dev/null 2>&1
    kubectl label nodes --all late- >/dev/null
}

# ---- The machine reboots

# As after a power failure: no process runs any more, files that were not synced to the disk are empty, and the kernel has another boot id.
check_reboot() {
    local uid settings bare
    [ "$(as_user id -u)" = 0 ] || return 0 # the mount over a file of /proc would prevent an ordinary user from mounting a new /proc
    kubectl create configmap settings --from-literal=word=kept >/dev/null
    pod booted Always true '{"volumes": [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "own", "emptyDir": {}}],
        "containers": [{"name": "main", "image": "trainyard/tools", "command": ["bash", "-c", "echo ran >>/own/runs; cat /settings/word; echo; cat /own/runs; exec sleep 100000"],
        "volumeMounts": [{"name": "settings", "mountPath": "/settings"}, {"name": "own", "mountPath": "/own"}]}]}'
    # The pod `bare` also loses its spec file. The spec file of `booted` is from the earlier boot. So the server plans both pods again.
    pod bare Always true '{"volumes": [{"name": "settings", "configMap": {"name": "settings"}}],
        "containers": [{"name": "main", "image": "trainyard/tools", "command": ["bash", "-c", "cat /settings/word; echo; exec sleep 100000"],
        "volumeMounts": [{"name": "settings", "mountPath": "/settings"}]}]}'
    pod once Never 'echo up; exec sleep 100000'
    wait_for_log booted ran
    wait_for_log bare kept
    wait_for_log once up
    uid=$(uid_of booted)
    bare=$TRAINYARD_STATE/pods/$(uid_of bare)
    settings=$TRAINYARD_STATE/pods/$uid/volumes/settings
    { own_processes && server_pid; } | xargs -r kill -9 2>/dev/null || true
    wait_until "all processes to end" none_left
    [ -s "$settings/word" ] || fail "the volume is not at $settings"
    find "$settings/" "$bare/volumes/" "$bare/spec" -type f -exec truncate -s 0 {} +
    cat /proc/sys/kernel/random/uuid >"$SCRATCH/boot_id"
    (
        # shellcheck disable=SC2030 # only this cluster has another boot id
        AS_USER=(unshare --mount sh -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$SCRATCH/boot_id" "${AS_USER[@]}")
        cluster_up
    )
    wait_until "the pod to run again" is_field booted '.status.containerStatuses[0].restartCount' 1
    wait_until "the content of its volumes in the log" is_said booted "kept ran ran"
    wait_until "the content of the volume in the log of the pod without a spec file" is_said bare kept
    assert_eq "reason of the last state" ContainerStatusUnknown "$(field booted '.status.containerStatuses[0].lastState.terminated.reason')"
    assert_contains "the previous log" kept "$(kubectl logs booted --previous)"
    assert_eq "the uid of the pod" "$uid" "$(uid_of booted)"
    wait_for_phase once Failed
    assert_eq "the node's boot id" "$(cat "$SCRATCH/boot_id")" "$(kubectl get nodes -o jsonpath='{.items[0].status.nodeInfo.bootID}')"
    kubectl delete pod booted bare once --grace-period=0 --force >/dev/null 2>&1
    kubectl delete configmap settings >/dev/null
}
is_said() { [ "$(kubectl logs "$1" | xargs)" = "$2" ]; } # POD WORDS
none_left() { [ -z "$(own_processes)" ]; }

# ---- The machine sleeps

descendants() { # PID
    local child
    for child in $(pgrep -P "$1"); do echo "$child" && descendants "$child"; done
}
# All processes of a cluster are stopped and continued, as when a laptop sleeps and wakes up. During a real sleep the clock of probes and
# grace periods stops too. Here it continues, so this test is stricter than a real sleep.
check_sleep() {
    local pid all last follower
    pod sleeper Always true '{"containers": [{"name": "main", "image": "trainyard/tools",
        "command": ["bash", "-c", "exec 3<> <(:); i=0; while :; do echo $((i += 1)); read -rt 0.01 -u 3; done"],
        "livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1}, "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1}}]}'
    wait_until "the pod to be ready" is_field sleeper '.status.containerStatuses[0].ready' true
    : >"$SCRATCH/asleep.out" # remove the output of an earlier round
    # shellcheck disable=SC2031 # check_reboot changes AS_USER only in its subshell
    "${AS_USER[@]}" "$KUBECTL" logs -f sleeper >>"$SCRATCH/asleep.out" &
    follower=$!
    wait_until "the first line of 'logs -f'" has_lines "$SCRATCH/asleep.out" 1
    all=$(for pid in $(server_pid) $(own_processes); do echo "$pid" && descendants "$pid"; done | sort -u)
    # shellcheck disable=SC2086 # one word each
    kill -STOP $all 2>/dev/null || true # the process of a probe may have ended
    sleep 3 # how long the machine sleeps
    last=$(wc -l <"$SCRATCH/asleep.out")
    # shellcheck disable=SC2086 # one word each
    kill -CONT $all 2>/dev/null || true
    wait_until "the pod to continue" count_on sleeper "$((last + 100))"
    wait_until "'logs -f' to continue" has_lines "$SCRATCH/asleep.out" "$((last + 100))"
    kill "$follower"
    wait "$follower" 2>/dev/null || true
    numbered_without_gap "$SCRATCH/asleep.out" || fail "the log has a gap at the time of the sleep"
    assert_eq "restart count and readiness" "0 true" "$(field sleeper '.status.containerStatuses[0].restartCount') $(field sleeper '.status.containerStatuses[0].ready')"
    kubectl delete pod sleeper --grace-period=0 --force >/dev/null 2>&1
}

# ---- Logs without end

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT
check_rotation() {
    local lines=60000 kept=40000 # the retained log files hold all `kept` lines, so `logs -f` may start late
    pod talker OnFailure true '{"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "main",
        "image": "trainyard/tools", "command": ["bash", "-c", "if [ -e /v/been ]; then echo second; exec sleep 100000; fi; touch /v/been; seq -f %1000.0f 1 '$kept'; until [ -e /v/on ]; do read -rt 0.1 <> <(:); done; seq -f %1000.0f '$((kept + 1))' '$lines'; exit 1"],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}'
    wait_for_phase talker Running
    kubectl logs -f talker >"$SCRATCH/followed.out" &
    local follower=$! uid
    uid=$(uid_of talker)
    wait_until "'logs -f' to print half of the lines" has_lines "$SCRATCH/followed.out" "$((kept / 2))"
    as_user touch "$TRAINYARD_STATE/pods/$uid/volumes/v/on"
    wait_for_log talker second
    wait "$follower"
    numbered_without_gap "$SCRATCH/followed.out" || fail "the output of 'logs -f' has a gap"
    assert_eq "lines of 'logs -f'" $lines "$(wc -l <"$SCRATCH/followed.out")"
    kubectl logs talker --previous --tail=20000 >"$SCRATCH/tail.out"
    assert_eq "first and last line of --previous --tail" "$((lines - 19999)) $lines" \
        "$(head -n 1 "$SCRATCH/tail.out" | tr -d ' ') $(tail -n 1 "$SCRATCH/tail.out" | tr -d ' ')"
    assert_eq "lines of --previous --tail" 20000 "$(wc -l <"$SCRATCH/tail.out")"
    [ "$(du -sm "$TRAINYARD_STATE/pods/$uid/logs" | cut -f 1)" -le 60 ] || fail "the size of the logs is not limited"
    assert_eq "the log of this run" second "$(kubectl logs talker --since=1h)"
    kubectl delete pod talker --grace-period=0 --force >/dev/null 2>&1
}

# ---- Resources run out

# The server has few file descriptors: as many pods run as it has descriptors for. The others get an event about it and start when
# descriptors are free again. The API answers all the time.
check_descriptors() {
    local i running
    (ulimit -n 64 && as_user "$TRAINYARD" up --port 0 "${UP_OPTIONS[@]}" >"$SCRATCH/up.log" 2>&1) || fail "up with few descriptors: $(cat "$SCRATCH/up.log")"
    CLUSTER_UP=yes
    for ((i = 0; i < 12; i++)); do pod "few-$i" Never 'exec sleep 100000'; done
    wait_until "each pod to run or to be rejected" few_are_settled
    assert_contains "the rejected pods" few- "$(refused_pods)"
    running=$(kubectl get pods --field-selector status.phase=Running -o name)
    # shellcheck disable=SC2086 # one word each
    kubectl delete $running --grace-period=0 --force >/dev/null 2>&1
    wait_until "the others to run" none_pending
    kubectl get nodes >/dev/null
    cluster_wipe
}
refused_pods() {
    kubectl get events -o jsonpath='{range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' |
        sed -n 's/^\(few-[0-9]*\) .*no file descriptors are left for another pod: the limit of the server is 64.*/\1/p'
}
few_are_settled() {
    local running refused
    running=$(kubectl get pods --field-selector status.phase=Running -o custom-columns=:.metadata.name --no-headers) && refused=$(refused_pods) &&
        [ -n "$running" ] && [ -n "$refused" ] && [ "$(printf '%s\n' "$running" "$refused" | sort -u | grep -c few-)" = 12 ]
}
none_pending() { [[ $(all_phases) == Running* && $(all_phases) != *Pending* ]]; }

is_full() { [ "$(stat -f -c %a "$1")" = 0 ]; }
can_write() { kubectl create configmap "room-$RANDOM" --from-literal=a=b; }
is_told_full() {
    local said
    ! said=$(can_write 2>&1) && [[ $said == *"no space is left for '$TRAINYARD_STATE/store.db': free some disk space to continue"* ]]
}
# Succeeds if a line reports the loss wherever numbers are missing in the log.
loss_is_told() { kubectl logs talker | awk '/^trainyard: [0-9]+ bytes of the log are missing here because the disk was full$/ { told = 1; next }
    $1 != last + 1 && !told { print "after " last " comes " $0; bad = 1 } { last = $1; told = 0 } END { exit bad }'; }

# One pod fills the disk of the state directory: its writes fail and it ends with its own exit code. The API rejects writes with a message.
# The other pod keeps running. When there is space again, everything continues without help.
check_full_disk() {
    local TRAINYARD_STATE=$SCRATCH/disk/state KUBECONFIG=$SCRATCH/disk/state/kubeconfig
    [ "$(id -u)" = 0 ] || return 0 # only root can mount a small tmpfs
    mkdir -p "$SCRATCH/disk"
    mount -t tmpfs -o "size=48m,uid=$(as_user id -u),mode=755" none "$SCRATCH/disk"
    cluster_up
    pod talker Always 'i=0; while :; do printf "%-1000d\n" $((i += 1)); read -rt 0.05 <> <(:); done'
    wait_for_phase talker Running
    pod filler Never '' '{"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "main", "image": "trainyard/tools", "command": ["bash", "-c",
        "head -c 100000000 /dev/zero >/v/x; exit $(($? + 6))"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}'
    wait_until "the disk to be full" is_full "$SCRATCH/disk"
    wait_until "the API to reject writes" is_told_full
    assert_contains "the phase of the other pod" Running "$(field talker .status.phase)"
    # shellcheck disable=SC2086 # it is a pattern
    rm -f $TRAINYARD_STATE/pods/*/volumes/v/x
    wait_until "writes to succeed again" can_write
    wait_for_phase filler Failed
    assert_eq "the exit code of the pod that filled the disk" 7 "$(field filler '.status.containerStatuses[0].state.terminated.exitCode')"
    assert_eq "restarts of the other pod" 0 "$(field talker '.status.containerStatuses[0].restartCount')"
    loss_is_told || fail "the log has a gap that no line reports"
    cluster_wipe
    umount "$SCRATCH/disk"
}
clean_up() { ! mountpoint -q "$SCRATCH/disk" || { as_user env TRAINYARD_STATE="$SCRATCH/disk/state" "$TRAINYARD" down --wipe >/dev/null; CLUSTER_UP=no; umount -l "$SCRATCH/disk"; }; }

check() {
    check_descriptors
    check_full_disk
    cluster_up
    check_killed_server
    check_ends
    check_late_start
    check_sleep
    check_reboot
    check_rotation
    pod one Always 'exec sleep 100000' '{"volumes": [{"name": "m", "emptyDir": {"medium": "Memory"}}]}'
    wait_for_phase one Running
    note_places
    cluster_wipe
    check_nothing_left "after down --wipe"

    # All processes of the cluster are killed: `down --wipe` still removes everything.
    cluster_up
    pod one Always 'exec sleep 100000'
    wait_for_phase one Running
    note_places
    own_processes | xargs -r kill -9 2>/dev/null || true
    cluster_wipe
    check_nothing_left "after all processes were killed"

    # A failed start leaves no process either.
    as_user mkdir -p "$TRAINYARD_STATE"
    as_user dd if=/dev/urandom of="$TRAINYARD_STATE/store.db" bs=64k count=4 status=none
    if as_user "$TRAINYARD" up --port 0 "${UP_OPTIONS[@]}" >"$SCRATCH/up.log" 2>&1; then fail "a damaged store was accepted"; fi
    assert_contains "the error message of up" "store.db" "$(cat "$SCRATCH/up.log")"
    assert_eq "processes after a failed start" "" "$(own_processes | xargs -r ps -o pid,args -p)"
    cluster_wipe
    check_nothing_left "after a failed start"
}

check
become_ordinary_user
check
