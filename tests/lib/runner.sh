# shellcheck shell=bash
# Runs tests side by side, prints one line per test, and counts. Sourced by tests/run and tests/kubernetes/run.
#
# A check (runner_check) runs once: a build either works or does not. A test (runner_begin, runner_suite) that fails runs once more,
# alone, when all others have ended. If it passes then, it is listed as flaky and does not fail the run: on a busy machine any process
# may be paused for seconds. More than RUNNER_FLAKY_MAX flaky tests fail the run, because that many have a common cause.
#
# The log of NAME is $RUNNER_LOGS/NAME.log, with '-' for '/'. The log of a first run that failed is kept as NAME.first.log.
#
# The caller sets before use:
#   RUNNER_LOGS    the directory of the logs
#   RUNNER_RETRY   yes: run failed tests once more; no: each failure counts at once
#   RUNNER_REBUILD yes: Meson builds the programs of a suite before it runs the suite (default: no)
# and may read afterwards: passed, failed, skipped.
#
# At the end runner_finish prints where the time went: the slowest tests, and the time per kind of test. The kind is the part of the
# name before the first '/'; names without one are checks.

RUNNER_LIB=$(dirname "${BASH_SOURCE[0]}")
RUNNER_FLAKY_MAX=3
RUNNER_AGAIN_MAX=20 # tests that run once more; with more failures than this the tree is broken, and a second run would waste time
RUNNER_SLOWEST=15   # the number of tests in the list of the slowest

passed=0
failed=0
skipped=0
failures=() # names of the tests that failed for good
flaky=()    # "NAME (reason of the first failure)"

# The tests that failed and run once more: name → the command, quoted for eval.
declare -A again_command=()
again=() # the same names, in the order of their failures

# The processes that run now: pid → name, quoted command, start time.
declare -A under_way=() under_way_command=() began=()

runner_log() { # NAME: print the path of its log
    echo "$RUNNER_LOGS/${1//\//-}.log"
}

runner_line() { # RESULT TEXT SECONDS
    printf '%-5s %-60s %4ds\n' "$1" "$2" "$3"
}

# The seconds of each test. Per kind: the number of tests, the sum of their seconds, and when the first started and the last ended.
test_seconds=() # "SECONDS NAME"
kinds=()
declare -A kind_tests=() kind_seconds=() kind_first=() kind_last=()

# Record the duration of a test that has just ended. Second runs are a separate kind, so that they do not count for the kind of the test.
runner_took() { # NAME SECONDS
    local kind=checks start=$((SECONDS - $2))
    [[ $1 != */* ]] || kind=${1%%/*}
    kind=${second_run:-$kind}
    test_seconds+=("$2 $1")
    [ -n "${kind_tests[$kind]:-}" ] || kinds+=("$kind")
    kind_tests[$kind]=$((${kind_tests[$kind]:-0} + 1))
    kind_seconds[$kind]=$((${kind_seconds[$kind]:-0} + $2))
    [ "$start" -ge "${kind_first[$kind]:-$start}" ] || kind_first[$kind]=$start
    kind_first[$kind]=${kind_first[$kind]:-$start}
    kind_last[$kind]=$SECONDS
}

# Print where the time went. Tests run side by side, so a kind takes less time than its tests do in sum.
runner_times() {
    local seconds name kind
    [ ${#test_seconds[@]} != 0 ] || return 0
    printf '%s\n' "${test_seconds[@]}" | sort -rn | sed -n "1,${RUNNER_SLOWEST}p" | while read -r seconds name; do
        runner_line slow "$name" "$seconds"
    done
    for kind in "${kinds[@]}"; do
        runner_line time "$kind: ${kind_tests[$kind]} tests, ${kind_seconds[$kind]} s in sum" $((kind_last[$kind] - kind_first[$kind]))
    done
    runner_line time total $SECONDS
}

runner_fail() { # NAME: count a failure for good
    failed=$((failed + 1))
    failures+=("$1")
}

# Count the test as failed, or keep it for a second run. An empty COMMAND is never run again.
runner_failed() { # NAME COMMAND
    if [ "$RUNNER_RETRY" = no ] || [ -z "$2" ]; then
        runner_fail "$1"
        return
    fi
    again+=("$1")
    again_command[$1]=$2
}

# A pipe on which each test writes its process and exit code when it ends. `wait -n` would be shorter, but it forgets a process that
# ended while no `wait` was running.
exec {RUNNER_ENDS}<> <(:)

# Start a test in the background. SIGINT and SIGHUP end it, also under nohup. Descriptor 9 is the caller's lock: a process that a test
# leaves behind must not hold it.
runner_begin() { # NAME COMMAND…
    local name=$1
    shift
    (
        env --default-signal=HUP,INT,QUIT "$@" {RUNNER_ENDS}>&-
        echo "$BASHPID $?" >&"$RUNNER_ENDS"
    ) >"$(runner_log "$name")" 2>&1 </dev/null 9>&- &
    under_way[$!]=$name
    under_way_command[$!]="${*@Q}"
    began[$!]=$SECONDS
}

runner_report() { # NAME CODE SECONDS QUOTED-COMMAND
    local log
    log=$(runner_log "$1")
    runner_took "$1" "$3"
    if [ "$2" = 0 ] || [ "$2" = 77 ]; then # 77: the log says why the test cannot run here
        # Print the parts that cannot run on this machine.
        sed -n 's/^skipped: /      &/p' "$log"
        if [ "$2" = 77 ]; then
            skipped=$((skipped + 1))
            runner_line skip "$1" "$3"
        else
            passed=$((passed + 1))
            skipped=$((skipped + $(grep -c '^skipped: ' "$log")))
            runner_line ok "$1" "$3"
        fi
    else
        tail -n "${TEST_TAIL:-60}" "$log"
        runner_failed "$1" "$4"
        runner_line FAIL "$1" "$3"
    fi
}

# Wait until one of the started tests ends. Sets `ended` to its process and `ended_code` to its exit code.
runner_wait() {
    local process gone
    until read -r -t 60 ended ended_code <&"$RUNNER_ENDS"; do
        gone=
        for process in "${!under_way[@]}"; do
            kill -0 "$process" 2>/dev/null || gone=$process
        done
        [ -n "$gone" ] || continue
        # It has ended, so its line is in the pipe, unless the shell around the test was killed.
        read -r -t 1 ended ended_code <&"$RUNNER_ENDS" || ended=$gone ended_code=137
        return
    done
}

# Wait until one of the started tests ends, and report it.
runner_settle() {
    local ended ended_code
    runner_wait
    [ -n "${under_way[$ended]:-}" ] || return 0 # reported already
    runner_report "${under_way[$ended]}" "$ended_code" $((SECONDS - began[$ended])) "${under_way_command[$ended]}"
    unset "under_way[$ended]" "under_way_command[$ended]" "began[$ended]"
}

runner_settle_until() { # NUMBER: wait until at most NUMBER tests run
    while [ ${#under_way[@]} -gt "$1" ]; do runner_settle; done
}

# Run a test by itself, in the foreground.
runner_test() { # NAME COMMAND…
    runner_settle_until 0
    runner_begin "$@"
    runner_settle_until 0
}

# Run a check by itself, in the foreground. A check never runs again. The exit code tells whether it passed.
runner_check() { # NAME COMMAND…
    local failed_before=$failed retry=$RUNNER_RETRY
    RUNNER_RETRY=no
    runner_test "$@"
    RUNNER_RETRY=$retry
    [ "$failed" = "$failed_before" ]
}

# Run one or more suites of Meson, separated by blanks. Each of their tests counts. A failed test has the name NAME/TEST and runs once
# more alone.
runner_suite() { # NAME BUILD-DIRECTORY SUITES PROCESSES TIMEOUT-MULTIPLIER [VARIABLE=VALUE…]
    local name=$1 build=$2 suites processes=$4 multiplier=$5
    local start=$SECONDS log counts code ok=0 bad=0 left_out=0 word test seconds
    kind_seconds[$name]=0
    log=$(runner_log "$name")
    read -ra suites <<<"$3"
    local command=(env "${@:6}" meson test -C "$build" "${suites[@]/#/--suite=}" --timeout-multiplier "$multiplier" --print-errorlogs)
    [ "${RUNNER_REBUILD:-no}" = yes ] || command+=(--no-rebuild)
    rm -f "$build/meson-logs/testlog.json"
    "${command[@]}" --num-processes "$processes" >"$log" 2>&1
    code=$?
    counts=$(python3 "$RUNNER_LIB/meson_results.py" "$build/meson-logs/testlog.json" "$RUNNER_LOGS/${name//\//-}-")
    while read -r word test; do
        case $word in
        ok) ok=$test ;;
        skipped) left_out=$test ;;
        sum) kind_seconds[$name]=$test ;;
        took)
            read -r seconds test <<<"$test"
            test_seconds+=("$seconds $name/$test")
            ;;
        failed)
            bad=$((bad + 1))
            tail -n "${TEST_TAIL:-60}" "$(runner_log "$name/$test")"
            runner_line FAIL "$name/$test" $((SECONDS - start))
            local alone=("${command[@]}" --num-processes 1 "$test")
            runner_failed "$name/$test" "${alone[*]@Q}"
            ;;
        esac
    done <<<"$counts"
    kinds+=("$name")
    kind_tests[$name]=$((ok + bad)) kind_first[$name]=$start kind_last[$name]=$SECONDS
    passed=$((passed + ok))
    skipped=$((skipped + left_out))
    # A suite that runs no test has failed, and so has one that Meson did not finish.
    if [ $((ok + bad)) = 0 ] || { [ $code != 0 ] && [ $bad = 0 ]; }; then
        tail -n "${TEST_TAIL:-60}" "$log"
        bad=1
        runner_fail "$name"
    fi
    runner_line "$([ $bad = 0 ] && echo ok || echo FAIL)" "$name: $ok tests" $((SECONDS - start))
}

# Print the reason of a failure: the last line that starts with "FAILED: ", or else the last line of the log.
runner_reason() { # LOG
    grep '^FAILED: ' "$1" | tail -n 1 | grep . || grep -v '^[[:space:]]*$' "$1" | tail -n 1 | sed 's/^[[:space:]]*//'
}

# Run each failed test once more, alone.
runner_run_again() {
    local name log reason failed_before waiting second_run=
    runner_settle_until 0
    second_run='second run'
    waiting=("${again[@]}")
    again=()
    if [ ${#waiting[@]} -gt $RUNNER_AGAIN_MAX ]; then
        echo "${#waiting[@]} tests failed: more than $RUNNER_AGAIN_MAX, so none of them runs once more"
        for name in "${waiting[@]}"; do runner_fail "$name"; done
        return
    fi
    for name in "${waiting[@]}"; do
        log=$(runner_log "$name")
        reason=$(runner_reason "$log")
        mv "$log" "${log%.log}.first.log"
        failed_before=$failed
        eval "runner_check ${name@Q} ${again_command[$name]}"
        [ "$failed" != "$failed_before" ] || flaky+=("$name ($reason)")
    done
}

# Run the failed tests once more, print where the time went, the lists of flaky and failed tests, and the counts. Returns whether the run
# passed.
runner_finish() {
    runner_run_again
    runner_times
    [ ${#flaky[@]} = 0 ] || printf 'flaky: %s\n' "${flaky[@]}"
    if [ ${#flaky[@]} -gt $RUNNER_FLAKY_MAX ]; then
        runner_fail "more than $RUNNER_FLAKY_MAX tests are flaky"
    fi
    [ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
    echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
    [ $failed = 0 ]
}

# End the tests that run now, and count every test without a final result as failed.
runner_interrupt() {
    local process name
    for name in "${again[@]}"; do runner_fail "$name"; done
    again=()
    for process in "${!under_way[@]}"; do
        pkill -TERM -P "$process"
        wait "$process"
    done
    under_way=()
    runner_fail interrupted
}
