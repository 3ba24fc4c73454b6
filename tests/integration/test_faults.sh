#!/bin/bash
# Workers that are killed, stopped and started again while they train: the others go on without them, those that come back are
# let in, and every loss that is told is the one of an undisturbed run, to the last digit. TRAINYARD_TEST_KILLS says how often.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

KILLS=${TRAINYARD_TEST_KILLS:-6}
EACH=400 # steps for one kill and the return of its victim: more than it takes, or the run ends before the test
STEPS=$((KILLS * EACH + 4 * EACH))
# Shares of whole parts for 3, 2 and 1 workers: then not a bit depends on how many they are.
MODEL=(--data procedural --persons 24 --pictures 6 --held-out 0 --image-size 32 --width 8 --batch-persons 12 --batch-pictures 4
    --steps $STEPS --checkpoint-every 100 --log json)

"$TRAINER" fit face "${MODEL[@]}" >"$SCRATCH/alone"
# "STEP LOSS" of everything told.
losses() { sed -n 's/.*"event":"step","step":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' "$@"; }
losses "$SCRATCH/alone" >"$SCRATCH/undisturbed"

LIST='"127.0.0.1:28531","127.0.0.1:28532","127.0.0.1:28533"'
workers=()
# A test that fails must not leave anybody behind, least of all one that is stopped.
leave() {
    local code=$?
    for worker in "${workers[@]}"; do kill -KILL "$worker" 2>/dev/null || true; done
    (exit $code)
    finish
}
trap leave EXIT
start() { # INDEX
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$1}}" \
        "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/model" --peer-timeout 1 >>"$SCRATCH/worker-$1" 2>>"$SCRATCH/said-$1" &
    workers[$1]=$!
}
end() { # INDEX
    kill -KILL "${workers[$1]}"
    wait "${workers[$1]}" 2>/dev/null || true
}
logs() { cat "$SCRATCH"/worker-[012]; }
reached() { # STEP
    [ "$(losses "$SCRATCH"/worker-[012] | sort -n | tail -n 1 | cut -d ' ' -f 1)" -ge "$1" ] 2>/dev/null
}
formings() { logs | grep -c "\"reformed\".*$1" || true; }
more_formings() { [ "$(formings "$1")" -gt "$2" ]; }
# Whoever goes on without one, and with all again, says so.
goes_on() { wait_until "the others to go on ($1)" more_formings 'with [12] of 3 workers' "$2"; }
returns() { wait_until "its return ($1)" more_formings 'with all 3 workers' "$2"; }

for i in 0 1 2; do start $i; done
wait_until "the first steps" reached 3
for ((kill = 1; kill <= KILLS; kill++)); do
    wait_until "step $((kill * EACH))" reached $((kill * EACH + RANDOM % 10))
    victim=$((kill % 3 ? RANDOM % 3 : 0)) # the chief often enough
    without=$(formings 'with [12] of 3 workers') all=$(formings 'with all 3 workers')
    end $victim
    goes_on "kill $kill of worker $victim" "$without"
    start $victim
    if [ $((kill % 3)) = 2 ]; then # and once more, somewhere on its way in
        read -rt "0.$((RANDOM % 30 + 10))" <> <(:) || true
        end $victim
        start $victim
    fi
    returns "kill $kill of worker $victim" "$all"
done

# Stopped, not dead: named, left out after --peer-timeout, and back as a newcomer when it goes on.
for victim in 1 0; do
    without=$(formings 'with [12] of 3 workers') all=$(formings 'with all 3 workers')
    kill -STOP "${workers[$victim]}"
    wait_until "the straggler to be named" grep -q "waiting for worker $victim (127.0.0.1:2853$((victim + 1))): .* s behind the others" "$SCRATCH"/said-[012]
    goes_on "worker $victim stopped" "$without"
    kill -CONT "${workers[$victim]}"
    returns "worker $victim goes on" "$all"
done

for i in 0 1 2; do wait "${workers[$i]}" || fail "worker $i did not survive: $(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i")"; done
assert_contains "a loss, told" '"lost","message":"lost worker' "$(logs)"
losses "$SCRATCH"/worker-[012] | sort -n >"$SCRATCH/told"
uniq "$SCRATCH/told" | sort >"$SCRATCH/distinct"
differing=$(sort "$SCRATCH/undisturbed" | comm -13 - "$SCRATCH/distinct")
[ -z "$differing" ] || fail "losses that the undisturbed run does not have: $differing"
assert_eq "the last step" "$(tail -n 1 "$SCRATCH/undisturbed")" "$(tail -n 1 "$SCRATCH/told")"
often=$(cut -d ' ' -f 1 "$SCRATCH/told" | uniq -c | awk '$1 > 2')
[ -z "$often" ] || fail "steps told more than twice: $often"
cmp <("$TRAINER" predict --model "$SCRATCH/model/face.model" --data procedural --persons 5 --pictures 4 --log json) \
    <("$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/again" >/dev/null &&
        "$TRAINER" predict --model "$SCRATCH/again/face.model" --data procedural --persons 5 --pictures 4 --log json) ||
    fail "the model differs from that of an undisturbed run"
echo "$KILLS kills, $(formings 'workers') formings, $(cut -d ' ' -f 1 "$SCRATCH/told" | uniq -d | wc -l) steps done twice, loss $(tail -n 1 "$SCRATCH/told" | cut -d ' ' -f 2) as undisturbed"

# Asked to end while it waits for one that was lost: with all that was done on disk.
LIST='"127.0.0.1:28531","127.0.0.1:28532"'
two() { # INDEX
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$1}}" \
        "$TRAINER" fit face "${MODEL[@]}" --model-dir "$SCRATCH/two" --peer-timeout 1 --min-workers 2 >"$SCRATCH/two-$1" 2>&1 &
    workers[$1]=$!
}
two 0
two 1
wait_until "the first steps of two" grep -q '"step":7,' "$SCRATCH/two-0"
end 1
wait_until "the loss to be told" grep -q '"lost"' "$SCRATCH/two-0"
kill -TERM "${workers[0]}"
code=0
wait "${workers[0]}" || code=$?
assert_eq "code of a worker that is stopped while it waits" 143 $code
last=$(losses "$SCRATCH/two-0" | tail -n 1 | cut -d ' ' -f 1)
assert_contains "its last words" "stopped after step $last; the next run goes on from there" "$(cat "$SCRATCH/two-0")"
[ -f "$SCRATCH/two/step-$(printf %08d "$last").ckpt" ] || fail "step $last is not on disk: $(ls "$SCRATCH/two")"
