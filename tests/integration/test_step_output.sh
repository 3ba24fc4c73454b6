#!/bin/bash
# `trainyard-step output`, the wrapper of workflow steps, does not affect the command that it runs, and writes the command's output
# parameters to the termination log.
# shellcheck disable=SC2016 # the shells that the wrapper runs expand the text
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

STEP=$BUILD/trainyard-step
log=$SCRATCH/log
cd "$SCRATCH"

echo "output parameters"
code=0
"$STEP" output "$log" a=one b=two missing=none -- sh -c 'printf "x\ny\n" >one; printf "\"\\ü\n" >two; echo "$0 $1"' first 'second one' >out || code=$?
assert_eq "exit code" 0 $code
assert_eq "the command's output" "first second one" "$(cat out)"
assert_eq "the log" '{"parameters":{"a":"x\ny","b":"\"\\ü"}}' "$(cat "$log")"
"$STEP" output "$log" a=one -- true # an earlier message is replaced
assert_eq "the log" '{"parameters":{"a":"x\ny"}}' "$(cat "$log")"

echo "if the command fails, the wrapper does not change the log"
echo mine >"$log"
"$STEP" output "$log" a=one -- sh -c 'exit 7' || code=$?
assert_eq "exit code" 7 $code
assert_eq "the log" mine "$(cat "$log")"
"$STEP" output "$log" a=one -- no-such-program 2>err || code=$?
assert_eq "exit code" 127 $code
assert_contains "the error message" "cannot run 'no-such-program'" "$(cat err)"

echo "values that do not fit"
for size in 4000 4097 1000000; do
    head -c $size /dev/zero | tr '\0' x >large
    "$STEP" output "$log" a=large -- true
    if [ $size = 4000 ]; then assert_contains "the log" '{"parameters"' "$(cat "$log")"; else
        assert_contains "the log" "larger than the 4096 bytes" "$(cat "$log")"; fi
    [ "$(stat -c %s "$log")" -le 4096 ] || fail "the log is too large"
done
mkdir directory
"$STEP" output "$log" a=directory -- true
assert_contains "the log" '"error"' "$(cat "$log")"
"$STEP" output "$SCRATCH/no/such/log" a=one -- true 2>err && fail "the wrapper succeeds although it cannot write the log"
assert_contains "the error message" "cannot report the output parameters" "$(cat err)"

echo "signals"
"$STEP" output "$log" a=one -- bash -c 'trap "exit 5" TERM; echo ready >ready; while :; do read -rt 60 <> <(:); done' &
pid=$!
wait_until "the command to run" test -s ready
kill -TERM $pid
code=0
wait $pid || code=$?
assert_eq "exit code" 5 $code
"$STEP" output "$log" a=one -- sh -c 'kill -KILL $$' || code=$?
assert_eq "exit code of a killed command" 137 $code

echo "as PID 1 the wrapper reaps orphaned processes"
as_pid_1() { unshare --user --map-root-user --pid --fork --mount-proc "$@"; }
if as_pid_1 true 2>/dev/null; then
    as_pid_1 "$STEP" output "$log" a=zombies -- bash -c '
        for i in 1 2 3; do (true & ) ; done
        until ! grep -qs "^State:.*Z" /proc/[0-9]*/status; do :; done
        echo none >zombies'
    assert_eq "the log" '{"parameters":{"a":"none"}}' "$(cat "$log")"
fi

echo "the wrapper installs itself"
mkdir volume
TRAINYARD_SCRIPT='echo "from the $1 script"' "$STEP" install "$SCRATCH/volume/step" "$SCRATCH/volume/script"
assert_eq "the mode of the installed program" 755 "$(stat -c %a volume/step)"
cmp "$STEP" volume/step
assert_eq "the script" "from the same script" "$(sh volume/script same)"
