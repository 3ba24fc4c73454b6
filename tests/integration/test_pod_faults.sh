#!/bin/bash
# Pods and what may befall them: the server killed, a full disk, no file descriptors, programs that do not end, supervisors killed, a reboot, a sleep, logs
# without end. Each ends in a clear status and nothing else suffers; and nothing at all is left behind. As root and as an ordinary user.
# Alone: a disk that is full, processes that are stopped.
# Long: 73 s.
# shellcheck disable=SC2016,SC2119 # what stands in single quotes is for the pods' shells
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
UP_OPTIONS=(--no-restart) # what kills the server here starts the next one itself

PODS=${TRAINYARD_TEST_PODS:-20}

pod() { # NAME POLICY SCRIPT [MORE-OF-THE-SPEC]; also on a node whose disk is nearly full
    jq -n --arg name "$1" --arg policy "$2" --arg script "$3" --argjson more "${4:-{\}}" '{apiVersion: "v1", kind: "Pod", metadata: {name: $name},
        spec: ({restartPolicy: $policy, tolerations: [{operator: "Exists"}], containers: [{name: "main", image: "trainyard/tools", command: ["bash", "-c", $script]}]} + $more)}' |
        kubectl apply -f - >/dev/null
}
field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
is_field() { [ "$(field "$1" "$2")" = "$3" ]; }
all_phases() { kubectl get pods -o jsonpath='{.items[*].status.phase}'; }
all_run() { [ "$(all_phases | tr ' ' '\n' | grep -c Running)" -ge "$1" ]; }

# ---- What is there before and after

own_processes() { pgrep -f "$TRAINYARD_STATE" || true; }
# The namespaces and control groups in which ours live now, to be looked for when they are gone.
note_places() {
    local pid
    for pid in $(own_processes); do readlink /proc/"$pid"/ns/{net,ipc,uts,mnt,user,pid} 2>/dev/null || true; done |
        grep -vFf <(readlink /proc/self/ns/*) | grep -o '[0-9]*' | sort -u >"$SCRATCH/namespaces"
    [ -s "$SCRATCH/namespaces" ] || fail "pods live in no namespaces of their own"
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
    wait_until "processes to be gone $1" no_processes # one that was killed is dead when the kernel gets to it
    assert_eq "mounts $1" "" "$(grep -F "$SCRATCH" /proc/self/mountinfo || true)"
    assert_eq "files $1" "" "$(find "$TRAINYARD_STATE" "$HOME/.kube/config" 2>/dev/null)"
    wait_until "namespaces to be gone $1" namespaces_gone # the kernel takes them apart in its own time
    while read -r group; do
        [ ! -e "$group" ] || fail "control group $group is left $1"
    done < <(grep -o '/[^ ]*' "$SCRATCH/groups")
}
namespaces_gone() { ! lsns -n -o NS 2>/dev/null | tr -d ' ' | finds -xFf "$SCRATCH/namespaces"; }

# ---- The server is killed

numbered_without_gap() { # FILE: 1, 2, 3, …
    awk '$1 != NR { print "line " NR " is " $0; exit 1 }' "$1"
}
count_on() { local had; had=$(kubectl logs "$1" --tail=1); [ "$had" -gt "$2" ]; } # POD NUMBER

# Of the pods whose uid matches: the first process of a sandbox has the same words.
supervisors() { # UID
    local pid
    for pid in $(pgrep -f "trainyard-step pod $TRAINYARD_STATE/pods/$1\$"); do
        [ "$(cat "/proc/$pid/comm")" != trainyard-pod ] || echo "$pid"
    done
}

check_killed_server() {
    local i pids before last
    for ((i = 0; i < PODS; i++)); do pod "count-$i" Always 'i=0; while :; do echo $((i += 1)); read -rt 0.01 <> <(:); done'; done
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
        wait_until "count-$i to go on" count_on "count-$i" "$last"
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
    assert_eq "why it failed" "ContainerStatusUnknown 137" "$(field other '.status.containerStatuses[0].state.terminated.reason') $(
        field other '.status.containerStatuses[0].state.terminated.exitCode')"
    kubectl delete pod other >/dev/null
}

# A start that failed is not what a pod is told by, once its supervisor stands after all. What stands in the way is its log; who starts it is we.
check_late_start() {
    local directory step
    [ "$(as_user id -u)" = 0 ] || return 0 # an ordinary user's supervisors live in a namespace of the server's
    step=$(dirname "$TRAINYARD")/trainyard-step
    pod late Never 'echo up; exec sleep 100000' '{"nodeSelector": {"late": "yes"}}'
    directory=$TRAINYARD_STATE/pods/$(uid_of late)
    mkdir -p "$directory/supervisor.log"
    kubectl label nodes --all late=yes >/dev/null
    wait_until "the start to fail" is_field late '.status.containerStatuses[0].state.waiting.reason' FailedCreatePodSandBox
    "$step" pod "$directory"
    wait_for_phase late Running
    wait_until "its container to be told of" is_field late '.status.containerStatuses[0].state.waiting.reason' ''
    [ -n "$(field late '.status.containerStatuses[0].state.running.startedAt')" ] || fail "its container does not run: $(kubectl get pod late -o yaml)"
    [ -n "$(field late .status.podIP)" ] || fail "the pod has no address"
    kubectl delete pod late --grace-period=0 --force >/dev/null 2>&1
    kubectl label nodes --all late- >/dev/null
}

# ---- The machine is started anew

# As after a power cut: nothing runs any more, files whose writer did not wait for the disk are empty, and the kernel names another boot.
check_reboot() {
    local uid settings bare
    [ "$(as_user id -u)" = 0 ] || return 0 # what is mounted over /proc would keep an ordinary user from a fresh one
    kubectl create configmap settings --from-literal=word=kept >/dev/null
    pod booted Always true '{"volumes": [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "own", "emptyDir": {}}],
        "containers": [{"name": "main", "image": "trainyard/tools", "command": ["bash", "-c", "echo ran >>/own/runs; cat /settings/word; echo; cat /own/runs; exec sleep 100000"],
        "volumeMounts": [{"name": "settings", "mountPath": "/settings"}, {"name": "own", "mountPath": "/own"}]}]}'
    # Its spec is lost, too, and that of the other is of an earlier start: both are planned again.
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
    wait_until "everything to be gone" none_left
    [ -s "$settings/word" ] || fail "the volume is not where it is emptied"
    find "$settings/" "$bare/volumes/" "$bare/spec" -type f -exec truncate -s 0 {} +
    cat /proc/sys/kernel/random/uuid >"$SCRATCH/boot_id"
    (
        # shellcheck disable=SC2030 # only this cluster has another boot id
        AS_USER=(unshare --mount sh -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$SCRATCH/boot_id" "${AS_USER[@]}")
        cluster_up
    )
    wait_until "the pod to run again" is_field booted '.status.containerStatuses[0].restartCount' 1
    wait_until "what its volumes have to be said" is_said booted "kept ran ran"
    wait_until "what its volumes have to be said without a spec" is_said bare kept
    assert_eq "how it ended" ContainerStatusUnknown "$(field booted '.status.containerStatuses[0].lastState.terminated.reason')"
    assert_contains "what it said before" kept "$(kubectl logs booted --previous)"
    assert_eq "the pod" "$uid" "$(uid_of booted)"
    wait_for_phase once Failed
    assert_eq "the node's boot" "$(cat "$SCRATCH/boot_id")" "$(kubectl get nodes -o jsonpath='{.items[0].status.nodeInfo.bootID}')"
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
# All of a cluster stands still and goes on, as when a laptop's lid is closed and opened. The clock that probes and grace periods count by
# stands still, too, when a machine sleeps, and here it goes on: what holds here holds there.
check_sleep() {
    local pid all last follower
    pod sleeper Always true '{"containers": [{"name": "main", "image": "trainyard/tools",
        "command": ["bash", "-c", "i=0; while :; do echo $((i += 1)); read -rt 0.01 <> <(:); done"],
        "livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1}, "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 1}}]}'
    wait_until "the pod to be ready" is_field sleeper '.status.containerStatuses[0].ready' true
    : >"$SCRATCH/asleep.out" # another round's
    # shellcheck disable=SC2031 # as the test began
    "${AS_USER[@]}" "$KUBECTL" logs -f sleeper >>"$SCRATCH/asleep.out" &
    follower=$!
    wait_until "who follows to be near" has_lines "$SCRATCH/asleep.out" 1
    all=$(for pid in $(server_pid) $(own_processes); do echo "$pid" && descendants "$pid"; done | sort -u)
    # shellcheck disable=SC2086 # one word each
    kill -STOP $all 2>/dev/null || true # a probe may have ended
    sleep 3 # the sleep itself
    last=$(wc -l <"$SCRATCH/asleep.out")
    # shellcheck disable=SC2086 # one word each
    kill -CONT $all 2>/dev/null || true
    wait_until "the pod to go on" count_on sleeper "$((last + 100))"
    wait_until "who followed the log to hear of it" has_lines "$SCRATCH/asleep.out" "$((last + 100))"
    kill "$follower"
    wait "$follower" 2>/dev/null || true
    numbered_without_gap "$SCRATCH/asleep.out" || fail "the log has a gap where the machine slept"
    assert_eq "restarts, and whether it is ready" "0 true" "$(field sleeper '.status.containerStatuses[0].restartCount') $(field sleeper '.status.containerStatuses[0].ready')"
    kubectl delete pod sleeper --grace-period=0 --force >/dev/null 2>&1
}

# ---- Logs without end

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT
check_rotation() {
    local lines=60000 kept=40000 # so many are in the files that are kept: who follows may come late
    pod talker OnFailure true '{"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "main",
        "image": "trainyard/tools", "command": ["bash", "-c", "if [ -e /v/been ]; then echo second; exec sleep 100000; fi; touch /v/been; seq -f %1000.0f 1 '$kept'; until [ -e /v/on ]; do read -rt 0.1 <> <(:); done; seq -f %1000.0f '$((kept + 1))' '$lines'; exit 1"],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}'
    wait_for_phase talker Running
    kubectl logs -f talker >"$SCRATCH/followed.out" &
    local follower=$! uid
    uid=$(uid_of talker)
    wait_until "who follows to be near" has_lines "$SCRATCH/followed.out" "$((kept / 2))"
    as_user touch "$TRAINYARD_STATE/pods/$uid/volumes/v/on"
    wait_for_log talker second
    wait "$follower"
    numbered_without_gap "$SCRATCH/followed.out" || fail "the log that was followed has a gap"
    assert_eq "lines that were followed" $lines "$(wc -l <"$SCRATCH/followed.out")"
    kubectl logs talker --previous --tail=20000 >"$SCRATCH/tail.out"
    assert_eq "the last lines of the run before" "$((lines - 19999)) $lines" \
        "$(head -n 1 "$SCRATCH/tail.out" | tr -d ' ') $(tail -n 1 "$SCRATCH/tail.out" | tr -d ' ')"
    assert_eq "how many" 20000 "$(wc -l <"$SCRATCH/tail.out")"
    [ "$(du -sm "$TRAINYARD_STATE/pods/$uid/logs" | cut -f 1)" -le 60 ] || fail "the logs are not limited"
    assert_eq "the log of this run" second "$(kubectl logs talker --since=1h)"
    kubectl delete pod talker --grace-period=0 --force >/dev/null 2>&1
}

# ---- Nothing left to give

# The pods that fit run, the others say what there is too little of and start when there is some, and the API answers all the time.
check_descriptors() {
    local i running
    (ulimit -n 64 && as_user "$TRAINYARD" up --port 0 "${UP_OPTIONS[@]}" >"$SCRATCH/up.log" 2>&1) || fail "up with few descriptors: $(cat "$SCRATCH/up.log")"
    CLUSTER_UP=yes
    for ((i = 0; i < 12; i++)); do pod "few-$i" Never 'exec sleep 100000'; done
    wait_until "each to run or to be refused" few_are_settled
    assert_contains "the refusals" few- "$(refused_pods)"
    running=$(kubectl get pods --field-selector status.phase=Running -o name)
    # shellcheck disable=SC2086 # one word each
    kubectl delete $running --grace-period=0 --force >/dev/null 2>&1
    wait_until "the others to run" none_pending
    kubectl get nodes >/dev/null
    cluster_wipe
}
refused_pods() {
    kubectl get events -o jsonpath='{range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' |
        sed -n 's/^\(few-[0-9]*\) .*no file descriptors are left for another pod: the server may have 64.*/\1/p'
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
    ! said=$(can_write 2>&1) && [[ $said == *"no space is left for '$TRAINYARD_STATE/store.db': free some, and it goes on"* ]]
}
# Where numbers are missing a line says so.
loss_is_told() { kubectl logs talker | awk '/^trainyard: [0-9]+ bytes of the log are missing here, the disk was full$/ { told = 1; next }
    $1 != last + 1 && !told { print "after " last " comes " $0; bad = 1 } { last = $1; told = 0 } END { exit bad }'; }

# A state directory on a disk that one pod fills: its writes fail and it ends with its own code; the API says that it has no room; the other
# pod goes on. With room again all goes on by itself.
check_full_disk() {
    local TRAINYARD_STATE=$SCRATCH/disk/state KUBECONFIG=$SCRATCH/disk/state/kubeconfig
    [ "$(id -u)" = 0 ] || return 0 # only root can make a small disk; the rest of the test was the ordinary user's
    mkdir -p "$SCRATCH/disk"
    mount -t tmpfs -o "size=48m,uid=$(as_user id -u),mode=755" none "$SCRATCH/disk"
    cluster_up
    pod talker Always 'i=0; while :; do printf "%-1000d\n" $((i += 1)); read -rt 0.05 <> <(:); done'
    wait_for_phase talker Running
    pod filler Never '' '{"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "main", "image": "trainyard/tools", "command": ["bash", "-c",
        "head -c 100000000 /dev/zero >/v/x; exit $(($? + 6))"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}'
    wait_until "the disk to be full" is_full "$SCRATCH/disk"
    wait_until "the API to say so" is_told_full
    assert_contains "what can be read" Running "$(field talker .status.phase)"
    # shellcheck disable=SC2086 # it is a pattern
    rm -f $TRAINYARD_STATE/pods/*/volumes/v/x
    wait_until "writes to go on" can_write
    wait_for_phase filler Failed
    assert_eq "its own code" 7 "$(field filler '.status.containerStatuses[0].state.terminated.exitCode')"
    assert_eq "restarts of the other" 0 "$(field talker '.status.containerStatuses[0].restartCount')"
    loss_is_told || fail "the log has a gap and does not say so"
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

    # Everything killed in the middle: what is left is found all the same.
    cluster_up
    pod one Always 'exec sleep 100000'
    wait_for_phase one Running
    note_places
    own_processes | xargs -r kill -9 2>/dev/null || true
    cluster_wipe
    check_nothing_left "after all was killed"

    # A start that fails leaves nothing that runs, either.
    as_user mkdir -p "$TRAINYARD_STATE"
    as_user dd if=/dev/urandom of="$TRAINYARD_STATE/store.db" bs=64k count=4 status=none
    if as_user "$TRAINYARD" up --port 0 "${UP_OPTIONS[@]}" >"$SCRATCH/up.log" 2>&1; then fail "a damaged store was taken"; fi
    assert_contains "why it failed" "store.db" "$(cat "$SCRATCH/up.log")"
    assert_eq "processes after a start that failed" "" "$(own_processes | xargs -r ps -o pid,args -p)"
    cluster_wipe
    check_nothing_left "after a start that failed"
}

check
become_ordinary_user
check
