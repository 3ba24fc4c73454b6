#!/bin/bash
# The test runner (tests/lib/runner.sh) runs a failed test a second time, alone, and reports it as flaky if it passes then.
. "$(dirname "$0")/../lib/lib.sh"

# A test that fails as often as its file has lines: each run removes one line.
cat >"$SCRATCH/fails" <<'END'
#!/bin/bash
[ -s "$1" ] || exit 0
sed -i 1d "$1"
echo "FAILED: $1 has not passed yet"
echo 'a line about the cluster'
exit 1
END
chmod +x "$SCRATCH/fails"

# Run tests that fail FAILURES times, two tests at a time, as tests/run does. The output of the runner goes to $SCRATCH/output.
run_tests() { # RETRY NAME=FAILURES…
    local retry=$1
    shift
    rm -rf "$SCRATCH/logs" && mkdir "$SCRATCH/logs"
    bash -uc '
        RUNNER_LOGS=$1 RUNNER_RETRY=$2 fails=$3
        . "$4/tests/lib/runner.sh"
        cd "$(dirname "$fails")"
        for test in "${@:5}"; do
            seq "${test#*=}" >"${test%=*}"
            runner_settle_until 1
            runner_begin "set/${test%=*}" "$fails" "${test%=*}"
        done
        runner_finish' - "$SCRATCH/logs" "$retry" "$SCRATCH/fails" "$ROOT" "$@" >"$SCRATCH/output" 2>&1
}

expect_last() { # LINE…: the last lines of the output
    diff <(printf '%s\n' "$@") <(tail -n $# "$SCRATCH/output") || fail "the runner printed: $(cat "$SCRATCH/output")"
}

run_tests yes good=0 slow=1 fine=0 || fail 'a test that passes when it runs alone fails the run'
expect_last 'flaky: set/slow (FAILED: slow has not passed yet)' '3 passed, 0 failed'
grep -q 'slow has not passed' "$SCRATCH/logs/set-slow.first.log" || fail 'the log of the first run is lost'
[ -f "$SCRATCH/logs/set-slow.log" ] || fail 'the log of the second run is lost'

! run_tests yes good=0 broken=2 slow=1 || fail 'a test that fails twice does not fail the run'
expect_last 'flaky: set/slow (FAILED: slow has not passed yet)' 'failed: set/broken' '2 passed, 1 failed'

# Before its last lines, the runner prints how long the tests took.
for line in 'slow  set/good ' 'time  set: 3 tests, ' 'time  second run: 2 tests, ' 'time  total '; do
    grep -q "^$line.* [0-9]*s\$" "$SCRATCH/output" || fail "no '$line' in: $(cat "$SCRATCH/output")"
done

run_tests yes a=1 b=1 c=1 || fail 'three flaky tests fail the run'
expect_last '3 passed, 0 failed'
! run_tests yes a=1 b=1 c=1 d=1 || fail 'four flaky tests do not fail the run'
expect_last 'failed: more than 3 tests are flaky' '4 passed, 1 failed'
[ "$(grep -c '^flaky: ' "$SCRATCH/output")" = 4 ] || fail "not all flaky tests are named: $(cat "$SCRATCH/output")"

! run_tests no good=0 slow=1 || fail 'a soak runs a failed test once more'
expect_last 'failed: set/slow' '1 passed, 1 failed'
! grep -q flaky "$SCRATCH/output" || fail 'a soak calls a failed test flaky'

# While runner_check waits for a test, a message about another test that was already reported does not end the wait.
! RUNNER_LOGS=$SCRATCH/logs RUNNER_RETRY=yes bash -uc '
    . "$1/tests/lib/runner.sh"
    echo "1 0" >&"$RUNNER_ENDS"
    ! runner_check set/late sh -c "sleep 0.5; exit 1" || echo "it is taken for passed"
    runner_finish' - "$ROOT" >"$SCRATCH/output" 2>&1 || fail 'a check that fails does not fail the run'
expect_last 'failed: set/late' '0 passed, 1 failed'
! grep 'taken for passed' "$SCRATCH/output" || fail 'a check passes before it has ended'

# In a Meson suite, each test counts separately, and each failed test runs a second time alone.
mkdir "$SCRATCH/suite"
cat >"$SCRATCH/suite/meson.build" <<'END'
project('suite')
fails = find_program('../fails')
foreach name : ['good', 'slow', 'broken']
  test(name, fails, args: [meson.current_source_dir() / name], suite: 'all')
endforeach
test('left_out', find_program('sh'), args: ['-c', 'exit 77'], suite: 'all')
END
meson setup "$SCRATCH/suite/build" "$SCRATCH/suite" >/dev/null
: >"$SCRATCH/suite/good"
echo >"$SCRATCH/suite/slow"
printf '\n\n' >"$SCRATCH/suite/broken"
rm -rf "$SCRATCH/logs" && mkdir "$SCRATCH/logs"
! RUNNER_LOGS=$SCRATCH/logs RUNNER_RETRY=yes bash -uc '. "$1/tests/lib/runner.sh" && runner_suite all "$2" all 2 1 && runner_finish' - \
    "$ROOT" "$SCRATCH/suite/build" >"$SCRATCH/output" 2>&1 || fail 'a test of a suite that fails twice does not fail the run'
expect_last "flaky: all/slow (FAILED: $SCRATCH/suite/slow has not passed yet)" 'failed: all/broken' '2 passed, 1 failed, 1 skipped'
grep -q '^time  all: 3 tests, ' "$SCRATCH/output" || fail "no time of a suite: $(cat "$SCRATCH/output")"
grep -q '^slow  all/good ' "$SCRATCH/output" || fail "no time of the tests of a suite: $(cat "$SCRATCH/output")"
grep -q 'slow has not passed' "$SCRATCH/logs/all-slow.first.log" || fail 'the log of the first run of a suite is lost'

# If Meson does not run a suite to its end, the suite fails, even if all tests that ran have passed.
mkdir "$SCRATCH/killed"
printf '#!/bin/sh\n%s "$@"\nexit 137\n' "$(command -v meson)" >"$SCRATCH/killed/meson"
chmod +x "$SCRATCH/killed/meson"
truncate -s 0 "$SCRATCH/suite/slow" "$SCRATCH/suite/broken"
! PATH=$SCRATCH/killed:$PATH RUNNER_LOGS=$SCRATCH/logs RUNNER_RETRY=yes bash -uc '. "$1/tests/lib/runner.sh" && runner_suite all "$2" all 2 1; runner_finish' - \
    "$ROOT" "$SCRATCH/suite/build" >"$SCRATCH/output" 2>&1 || fail 'a suite whose Meson was killed passes'
expect_last 'failed: all' '3 passed, 1 failed, 1 skipped'

# A suite without tests fails, so that a mistyped name of a suite cannot pass.
! RUNNER_LOGS=$SCRATCH/logs RUNNER_RETRY=yes bash -uc '. "$1/tests/lib/runner.sh" && runner_suite none "$2" none 2 1; runner_finish' - \
    "$ROOT" "$SCRATCH/suite/build" >"$SCRATCH/output" 2>&1 || fail 'a suite without tests passes'
expect_last 'failed: none' '0 passed, 1 failed'
echo 'ok'
