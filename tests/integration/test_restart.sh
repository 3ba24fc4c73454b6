#!/bin/bash
# A server that crashes logs a backtrace and is restarted by its keeper, with the same port and the same objects. The test also checks the
# backoff, and the output of `status`, `up` and `down` meanwhile.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

status_of() { as_user "$TRAINYARD" status -o json | jq -r "$1"; } # JQ-FILTER
status_is() { [ "$(status_of "$1")" = "$2" ]; }                   # JQ-FILTER VALUE
is_restarting() { status_is .restarting true; }
is_running() { status_is .running true; }
log_lines() { jq -r --arg subject "$1" 'select(.subject == $subject) | .message' "$TRAINYARD_STATE/trainyard.log"; } # SUBJECT
log_says() { log_lines "$1" | finds -E "$2"; }                                                                   # SUBJECT REGEX

# Send the signal to the server, and wait until another process has replaced it.
crash() { # SIGNAL
    local old count
    old=$(server_pid)
    count=$(status_of .restarts)
    kill -"$1" "$old"
    wait_until "the server to be started again after SIG$1" status_is '[.running, .restarts] | join(" ")' "true $((count + 1))"
    [ "$(server_pid)" != "$old" ] || fail "status still names the crashed process $old"
}

# Succeeds if the keeper has noticed one more crash: it waits before the next start, or has already started the next server.
has_crashed() { # RESTARTS
    local lines=()
    mapfile -t lines 2>/dev/null <"$TRAINYARD_STATE/run/restarts.json" || true # without a fork, which would take too long
    [[ "${lines[*]}" == *'"waiting": true'* || "${lines[*]}" == *"\"count\": $(($1 + 1)),"* ]]
}
# Kill the server, and stop its keeper (SIGSTOP) while the keeper waits before the next start. On a slow machine this may take several
# attempts. Each crash in a row makes the delay longer. A keeper that is about to give up is replaced.
hold_back_off() {
    local count deadline=$((SECONDS + PATIENCE))
    while [ $SECONDS -lt $deadline ]; do
        count=$(status_of .restarts)
        if [ "$count" -ge 6 ]; then
            as_user "$TRAINYARD" down
            cluster_up
            count=0
        fi
        keeper=$(status_of .supervisorPid)
        kill -KILL "$(server_pid)"
        until has_crashed "$count"; do :; done
        kill -STOP "$keeper"
        ! is_restarting || return 0
        kill -CONT "$keeper"
        wait_until "the server to be started again" is_running
    done
    fail "the test never saw the keeper wait before the next start"
}
has_pending_end() { # PROCESS: SIGTERM (bit 14) is pending
    local mask
    mask=$(awk '$1 == "ShdPnd:" { print $2 }' "/proc/$1/status")
    [ $((0x$mask & 1 << 14)) != 0 ]
}

check() {
    cluster_up --nodes 2
    keeper=$(status_of .supervisorPid)
    port=$(status_of .port)
    assert_eq "the parent of the server" "$keeper" "$(ps -o ppid= -p "$(server_pid)" | tr -d ' ')"
    assert_eq "threads of the keeper" 1 "$(awk '$1 == "Threads:" { print $2 }' "/proc/$keeper/status")"
    echo "private memory of the keeper: $(awk '$1 == "Private_Dirty:" { print $2 }' "/proc/$keeper/smaps_rollup") kB"
    assert_contains "status" "supervised  by process $keeper" "$(as_user "$TRAINYARD" status)"
    assert_eq "restarts before any crash" "0 null" "$(status_of '[.restarts, .lastCrash // "null"] | join(" ")')"
    kubectl create configmap kept --from-literal=a=1
    start_sleeper

    crash SEGV
    log_says trainyard '^crashed with signal 11 \(SIGSEGV\), sent by process [0-9]+ in .* cluster_run \(trainyard\+0x' ||
        fail "no line with a backtrace: $(log_lines trainyard)"
    log_says server '^process [0-9]+ ended with signal 11 \(SIGSEGV\): starting it again in 0\.1 s$' || fail "no line about the restart"
    assert_eq "the port" "$port" "$(status_of .port)"
    assert_eq "an object" 1 "$(kubectl get configmap kept -o jsonpath='{.data.a}')"
    assert_contains "status after a crash" "restarted   1 time, last after a crash at " "$(as_user "$TRAINYARD" status)"
    assert_eq "the cause" "signal 11 (SIGSEGV)" "$(status_of .lastCrashCause)"

    crash KILL # the server cannot log anything, but the keeper notices the crash
    assert_contains "status after kill -9" "restarted   2 times, last after a crash at " "$(as_user "$TRAINYARD" status)"
    assert_eq "the cause" "signal 9 (SIGKILL)" "$(status_of .lastCrashCause)"
    assert_eq "restarts of the pod" 0 "$(kubectl get pod sleeper -o jsonpath='{.status.containerStatuses[0].restartCount}')"
    assert_eq "the same keeper" "$keeper" "$(status_of .supervisorPid)"

    # While the keeper waits before the next start, status says so. A client and a second `up` wait for the server; the client's connection
    # is not refused.
    hold_back_off
    assert_contains "status meanwhile" "and is about to be started again" "$(as_user "$TRAINYARD" status || true)"
    as_user "$TRAINYARD" up >"$SCRATCH/second.log" 2>&1 &
    second=$!
    kubectl get configmap kept -o jsonpath='{.data.a}' >"$SCRATCH/client.log" 2>&1 &
    client=$!
    kill -CONT "$keeper"
    wait $client || fail "a client that waits: $(cat "$SCRATCH/client.log")"
    assert_eq "a client that waits" 1 "$(cat "$SCRATCH/client.log")"
    wait $second || fail "a second up: $(cat "$SCRATCH/second.log")"
    assert_contains "a second up" "already running" "$(cat "$SCRATCH/second.log")"

    # `down` ends the cluster while the keeper waits, and no server is started afterwards.
    hold_back_off
    as_user "$TRAINYARD" down >"$SCRATCH/down.log" 2>&1 &
    down=$!
    wait_until "down to reach the keeper" has_pending_end "$keeper"
    kill -CONT "$keeper"
    wait $down || fail "down meanwhile: $(cat "$SCRATCH/down.log")"
    assert_contains "down meanwhile" "the cluster is down" "$(cat "$SCRATCH/down.log")"
    is_alive "$keeper" && fail "the keeper (process $keeper) still runs after down"
    if as_user "$TRAINYARD" status >"$SCRATCH/out"; then fail "status says that a cluster runs after down"; fi
    assert_contains "status after down" "start one with 'trainyard up'" "$(cat "$SCRATCH/out")"
    cluster_up
    assert_eq "restarts of a new start" 0 "$(status_of .restarts)"

    # In a crash loop the keeper gives up; status and the log say so. Then `up` works.
    for _ in {1..7}; do crash KILL; done
    kill -KILL "$(server_pid)"
    has_given_up() { status_is '[.running, .gaveUp, .supervised] | join(" ")' "false true false"; }
    wait_until "the keeper to give up" has_given_up
    assert_contains "status after the keeper has given up" "crashed again and again" "$(as_user "$TRAINYARD" status || true)"
    log_says server '8 times in a row, the last time with .*: not starting it again' || fail "the log does not say that the keeper has given up"
    cluster_up
    assert_eq "an object" 1 "$(kubectl get configmap kept -o jsonpath='{.data.a}')"

    # SIGTERM to the server is not a crash: server and keeper end.
    keeper=$(status_of .supervisorPid)
    kill -TERM "$(server_pid)"
    keeper_is_gone() { ! is_alive "$keeper"; }
    wait_until "the keeper to end with its server" keeper_is_gone
    if as_user "$TRAINYARD" status >/dev/null; then fail "the server was started again after SIGTERM"; fi

    # The server outlives its keeper, and `status` says that there is no keeper.
    cluster_up
    pid=$(server_pid)
    kill -KILL "$(status_of .supervisorPid)"
    wait_until "status to report no keeper" status_is .supervised false
    assert_eq "the server after its keeper was killed" "$pid" "$(server_pid)"
    kubectl get nodes >/dev/null
    assert_contains "status without a keeper" "supervised  no" "$(as_user "$TRAINYARD" status)"
    assert_contains "down without a keeper" "the cluster is down" "$(as_user "$TRAINYARD" down)"
    is_alive "$pid" && fail "the server (process $pid) still runs after down"

    # With --no-restart the server is not started again.
    cluster_up --no-restart
    assert_eq "supervised" false "$(status_of .supervised)"
    kill -KILL "$(server_pid)"
    is_down() { ! as_user "$TRAINYARD" status >/dev/null; }
    wait_until "the server to be gone" is_down
    cluster_wipe
}

check
become_ordinary_user
check
