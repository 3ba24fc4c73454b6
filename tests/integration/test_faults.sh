#!/bin/bash
# Workers are killed, stopped (SIGSTOP) and started again during training. The other workers continue, a worker that comes back joins
# again, and every printed loss equals that of a run without faults. TRAINYARD_TEST_KILLS is the number of kills.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

KILLS=${TRAINYARD_TEST_KILLS:-6}
STEPS=1000000 # more than the run can reach before the test ends it
# The timeout is so long that a worker that only waits for CPU time on a busy machine does not count as dead.
PEER_TIMEOUT=${TRAINYARD_TEST_PEER_TIMEOUT:-12}
# With 3, 2 and 1 workers, each worker's share consists of whole parts of the batch (train/team/exact_sum.h). So the losses are
# bit-identical for each number of workers.
MODEL=(--data procedural --persons 24 --pictures 6 --held-out 0 --image-size 32 --width 8 --batch-persons 12 --batch-pictures 4
    --margin 4 --steps "$STEPS" --checkpoint-every 100 --peer-timeout "$PEER_TIMEOUT" --log json)

# shellcheck source=tests/lib/workers.sh
. "$ROOT/tests/lib/workers.sh"
end() { # INDEX
    kill -KILL "${workers[$1]}" 2>/dev/null || fail "worker $1 has already ended: $(tail -n 3 "$SCRATCH/worker-$1" "$SCRATCH/said-$1")"
    wait "${workers[$1]}" 2>/dev/null || true
}
logs() { cat "$SCRATCH"/worker-[012]; }
last_step() { losses "$@" | sort -n | tail -n 1 | cut -d ' ' -f 1; }
reached() { [ "$(last_step "$SCRATCH"/worker-[012])" -ge "$1" ] 2>/dev/null; } # STEP
formings() { logs | grep -c "\"reformed\".*$1" || true; }
more_formings() { [ "$(formings "$1")" -gt "$2" ]; }
# The remaining workers log "reformed" when they continue without a worker, and again when all are back.
goes_on() { wait_until "the others to continue ($1)" more_formings 'with [12] of 3 workers' "$2"; }
returns() { wait_until "the run to have all 3 workers again ($1)" together "$2"; }
together() { # FORMINGS: more "with all 3 workers" messages than this, and the one with the highest step is also "with all"
    more_formings 'with all 3 workers' "$1" &&
        [ "$(logs | sed -n 's/.*"reformed".*after step \([0-9]*\) with \(...\).*/\1 \2/p' | LC_ALL=C sort -k 1,1n -k 2,2 | tail -n 1 | cut -d ' ' -f 2)" = all ]
}
# Print how many finished steps were repeated when the others continued without the victim. Each remaining worker logs after which step it
# continues ("reformed"). The last finished step is the highest one logged before that message, or in the log of the victim.
told_again() { # VICTIM
    local other after=0 before=0 line
    for other in 0 1 2; do
        [ "$other" != "$1" ] || continue
        line=$(awk -F 'after step | with ' '/"event":"step"/ { split($0, part, /"step":|,"steps"/); told = part[2] }
            /"reformed".*with [12] of 3/ { after = $2; before = told } END { print after + 0, before + 0 }' "$SCRATCH/worker-$other")
        [ "${line% *}" -le "$after" ] || { after=${line% *} before=${line#* }; }
    done
    other=$(last_step "$SCRATCH/worker-$1")
    [ "${other:-0}" -le "$before" ] || before=$other
    echo $((before > after ? before - after : 0))
}
newest() { find "$SCRATCH/model" -name 'step-*.ckpt' -printf '%f\n' | sort | tail -n 1; }
saved_since() { [[ $(newest) > $1 ]]; } # CHECKPOINT
joins() { # INDEX: prints how often the worker logged that it joined a run in which another worker shows the progress
    grep -cE "worker $1 \(${ADDRESSES[$1]}\) joins the run after step [0-9]+ with (all 3|2 of 3) workers.*; worker .* shows the progress" "$SCRATCH/worker-$1" || true
}
more_joins() { [ "$(joins "$1")" -gt "$2" ]; } # INDEX BEFORE
moment() { read -rt "0.$((RANDOM % 900 + 100))" <> <(:) || true; } # waits 0.1 to 1 s, at random

for i in 0 1 2; do start $i; done
wait_until "the first steps" reached 3
killed=0 chiefs=0 finished=0
for ((kill = 1; kill <= KILLS; kill++)); do
    moment
    victim=$((kill % 3 ? RANDOM % 3 : 0)) # every third kill hits the chief
    without=$(formings 'with [12] of 3 workers') all=$(formings 'with all 3 workers')
    end $victim
    goes_on "kill $kill of worker $victim" "$without"
    if flock -n "$SCRATCH/model/run.lock" true; then fail "no worker has locked the model directory after kill $kill of worker $victim"; fi
    again=$(told_again $victim)
    [ "$again" -le 1 ] || fail "$again finished steps were repeated after kill $kill of worker $victim"
    finished=$((finished + again)) killed=$((killed + 1)) chiefs=$((chiefs + (victim == 0)))
    joined=$(joins $victim)
    start $victim
    if [ $((kill % 3)) = 2 ]; then # kill it again while it joins
        moment
        end $victim
        all=$(formings 'with all 3 workers') joined=$(joins $victim)
        start $victim
        killed=$((killed + 1)) chiefs=$((chiefs + (victim == 0)))
    fi
    returns "kill $kill of worker $victim" "$all"
    # The worker's own log also says that it joined, even if another worker shows the progress.
    [ $victim = 0 ] || wait_until "worker $victim to log that it joined after kill $kill" more_joins $victim "$joined"
    [ $((kill % 10)) != 0 ] || echo "$kill: $killed kills, $chiefs of them of the chief; step $(last_step "$SCRATCH"/worker-[012])"
done

# A worker is stopped with SIGSTOP. The others name it as a straggler and continue without it after --peer-timeout. It joins again after
# SIGCONT.
for victim in 1 0; do
    without=$(formings 'with [12] of 3 workers') all=$(formings 'with all 3 workers')
    kill -STOP "${workers[$victim]}"
    wait_until "the straggler to be named" grep -q "waiting for worker $victim (${ADDRESSES[victim]}): .* s behind the others" "$SCRATCH"/said-[012]
    goes_on "worker $victim stopped" "$without"
    # Worker 0 still holds the lock on the model directory. The worker in its place writes checkpoints nevertheless.
    [ "$victim" != 0 ] || wait_until "a checkpoint of the others" saved_since "$(newest)"
    kill -CONT "${workers[$victim]}"
    returns "worker $victim goes on" "$all"
done

assert_contains "the lock of a stopped worker" "still holds the lock on '$SCRATCH/model': checkpoints are written anyway" "$(logs)"

# The run ends with a checkpoint. One worker alone resumes from it for some steps: their losses show that the saved state is right.
kill -TERM "${workers[0]}"
for i in 0 1 2; do
    code=0
    wait "${workers[$i]}" || code=$?
    assert_eq "exit code of worker $i at the end ($(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i"))" 143 $code
done
# alone LOG STEP [OPTION…]: run one worker alone until it has logged at least this step.
alone() {
    local log=$1 step=$2 pid
    shift 2
    "$TRAINER" fit face "${MODEL[@]}" "$@" >"$log" &
    pid=$! workers[3]=$!
    until [ "$(last_step "$log")" -ge "$step" ] 2>/dev/null; do
        kill -0 $pid 2>/dev/null || fail "a run alone ended: $(tail -n 3 "$log")"
        read -rt 0.05 <> <(:) || true
    done
    kill -KILL $pid
    wait $pid 2>/dev/null || true
}
assert_contains "the message about a lost worker" '"lost","message":"lost worker' "$(logs)"
last=$(last_step "$SCRATCH"/worker-[012])
losses "$SCRATCH"/worker-[012] | sort -n >"$SCRATCH/told"
alone "$SCRATCH/afterwards" $((last + 5)) --model-dir "$SCRATCH/model"
alone "$SCRATCH/told-alone" $((last + 5))
losses "$SCRATCH/told-alone" >"$SCRATCH/undisturbed"
cat "$SCRATCH/told" <(losses "$SCRATCH/afterwards" | sed -n 1,5p) | sort -u >"$SCRATCH/distinct"
# The losses are equal to the last digit, until a gradient grows between two steps by more than train/team/exact_sum.h can represent.
# From then on they are equal within rounding.
read -r differing largest < <(awk 'NR == FNR { loss[$1] = $2; next } $2 "" != loss[$1] "" {
        differing++; by = ($2 - loss[$1]) / loss[$1]; by = by < 0 ? -by : by; largest = by > largest ? by : largest }
    END { print differing + 0, largest + 0 }' "$SCRATCH/undisturbed" "$SCRATCH/distinct")
awk -v by="$largest" 'BEGIN { exit by > 1e-4 }' || fail "$differing losses differ from those of a run without faults, by a relative error of up to $largest"
[ "$differing" = 0 ] || [ "$last" -gt 500 ] || fail "$differing losses differ from those of a run without faults in the last digits (relative error $largest)"
assert_contains "the last step after the resumption" "$((last + 5)) " "$(cat "$SCRATCH/distinct")"
# If the worker that logs the progress is killed right after a step, no worker logs that step.
[ $((last + 5 - $(wc -l <"$SCRATCH/distinct"))) -le $((chiefs + 1)) ] || fail "steps are missing: $(cat "$SCRATCH/distinct")"
often=$(cut -d ' ' -f 1 "$SCRATCH/told" | uniq -c | awk '$1 > 2')
[ -z "$often" ] || fail "steps logged more than twice: $often"
twice=$(cut -d ' ' -f 1 "$SCRATCH/told" | uniq -d | wc -l)
echo "$killed kills, $chiefs of them of the chief; 2 stops; $last steps; $(formings 'workers') formings"
echo "finished steps repeated: $finished after a kill, at most 1 per kill; $twice in all, including stops and returns"
echo "loss of step $last: $(tail -n 1 "$SCRATCH/told" | cut -d ' ' -f 2); of all logged losses and those of five more steps, $differing differ from the run without faults, by a relative error of at most $largest"

# A worker gets SIGTERM while it waits for a lost worker: it ends, and all finished steps are on disk.
have_addresses 2
two() { # INDEX
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$1}}" \
        "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/two" --min-workers 2 >"$SCRATCH/two-$1" 2>&1 &
    workers[$1]=$!
}
two 0
two 1
wait_until "the first steps of two" grep -q '"step":7,' "$SCRATCH/two-0"
end 1
wait_until "worker 0 to log the loss of worker 1" grep -q '"lost"' "$SCRATCH/two-0"
kill -TERM "${workers[0]}"
code=0
wait "${workers[0]}" || code=$?
assert_eq "exit code of a worker that gets SIGTERM while it waits" 143 $code
last=$(losses "$SCRATCH/two-0" | tail -n 1 | cut -d ' ' -f 1)
assert_contains "the end of its output" "stopped after step $last; the next run goes on from there" "$(cat "$SCRATCH/two-0")"
[ -f "$SCRATCH/two/step-$(printf %08d "$last").ckpt" ] || fail "step $last is not on disk: $(ls "$SCRATCH/two")"

# SIGTERM to one worker: it leaves and the others continue. A signal to the worker that writes the checkpoints ends the run for all.
# SIGTERM to all workers at once, as when their job is deleted: the last state is on disk. Every worker logs which worker got the signal.
have_addresses 3
ended() { # INDEX CODE WHAT
    local code=0
    wait "${workers[$1]}" || code=$?
    assert_eq "exit code of worker $1, $3" "$2" $code
}
three() { # DIRECTORY PEER-TIMEOUT
    rm -f "$SCRATCH"/worker-[012]
    for i in 0 1 2; do
        TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
            "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/$1" --peer-timeout "$2" >"$SCRATCH/worker-$i" 2>"$SCRATCH/said-$i" &
        workers[i]=$!
    done
    wait_until "the first steps of three" grep -q '"step":7,' "$SCRATCH/worker-0"
}
told() { echo "worker $1 (${ADDRESSES[$1]}) was told to stop; $2"; } # INDEX WHAT
on_disk() { # DIRECTORY
    local last
    last=$(last_step "$SCRATCH"/worker-[012])
    assert_contains "the end of the logs" "stopped after step $last; the next run goes on from there" "$(logs)"
    [ -f "$SCRATCH/$1/step-$(printf %08d "$last").ckpt" ] || fail "step $last is not on disk: $(ls "$SCRATCH/$1")"
}

three peace 3600
kill -TERM "${workers[2]}"
ended 2 143 "which got SIGTERM"
wait_until "the others to continue" more_formings 'with 2 of 3 workers' 0
assert_contains "the log of worker 0" "$(told 2 'the others go on')" "$(cat "$SCRATCH/worker-0")"
assert_contains "the log of worker 2" "$(told 2 'the others go on')" "$(cat "$SCRATCH/worker-2")"
case $(logs) in *'"lost"'*) fail "a worker that left after SIGTERM was reported as lost: $(logs | grep '"lost"')" ;; esac
wait_until "steps of the remaining two workers" reached $(($(last_step "$SCRATCH/worker-0") + 5))
kill -INT "${workers[0]}"
ended 0 130 "which got SIGINT"
ended 1 143 "whose chief got SIGINT"
assert_contains "the log of worker 1" "$(told 0 'all workers stop')" "$(cat "$SCRATCH/worker-1")"
on_disk peace

three deleted 3600
kill -TERM "${workers[@]:0:3}"
for i in 0 1 2; do ended $i 143 "which got SIGTERM together with all others"; done
on_disk deleted

# Worker 1 is stopped (SIGSTOP), and --peer-timeout is so long that the others keep waiting for it. Worker 0 gets SIGTERM and ends without
# waiting.
three frozen 3600
kill -STOP "${workers[1]}"
wait_until "the straggler to be named" grep -q "waiting for worker 1 (${ADDRESSES[1]}): .* s behind the others" "$SCRATCH/said-0"
kill -TERM "${workers[0]}"
is_over() { ! kill -0 "${workers[0]}" 2>/dev/null; }
wait_until "the end of worker 0" is_over
ended 0 143 "which got SIGTERM while it waited for a stopped worker"
on_disk frozen
for i in 1 2; do end $i; done
