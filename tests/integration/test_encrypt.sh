#!/bin/bash
# Workers with encrypted links: they train to the same losses as one alone, also when one of them is killed and comes back; who has no
# secret, or does not encrypt, is told so.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# Shares of whole parts for 3 and 2 workers: then not a bit depends on how many they are.
MODEL=(--data procedural --persons 24 --pictures 6 --held-out 0 --image-size 32 --width 8 --batch-persons 12 --batch-pictures 4
    --schedule constant --checkpoint-every 50 --peer-timeout 60 --log json)
# shellcheck source=tests/lib/workers.sh
. "$ROOT/tests/lib/workers.sh"
says() { # INDEX CODE SENTENCE: its last words
    local code=0
    wait "${workers[$1]}" || code=$?
    assert_eq "code of worker $1" "$2" $code
    assert_contains "what worker $1 says" "$3" "$(cat "$SCRATCH/said-$1")"
}

# Without a secret, and beside parameter servers: refused before anything is waited for.
unset TRAINYARD_JOB_SECRET TRAINYARD_JOB_SECRET_FILE
start 0 --encrypt
says 0 1 "links cannot be encrypted without a job secret: set TRAINYARD_JOB_SECRET, or TRAINYARD_JOB_SECRET_FILE"
code=0
said=$(TF_CONFIG="{\"cluster\":{\"worker\":[\"${ADDRESSES[0]}\"],\"ps\":[\"${ADDRESSES[1]}\"]},\"task\":{\"type\":\"worker\",\"index\":0}}" TRAINER_ENCRYPT=true \
    "$TRAINER" fit recommender --data /nowhere 2>&1) || code=$?
assert_eq "code beside parameter servers" 1 $code
assert_contains "a cluster with parameter servers" "links to parameter servers cannot be encrypted yet" "$said"

# One that does not encrypt: both say why, and neither waits.
TRAINYARD_JOB_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export TRAINYARD_JOB_SECRET
have_addresses 2
start 0
start 1 --encrypt
says 0 1 "only one of it and this task encrypts: give all tasks --encrypt (TRAINER_ENCRYPT), or none"
says 1 1 "only one of it and this task encrypts: give all tasks --encrypt (TRAINER_ENCRYPT), or none"

# A kill in the middle of a run, which goes on until the killed one is back; then it is stopped, and the same workers finish what is left.
have_addresses 3
rm -f "$SCRATCH"/worker-* "$SCRATCH"/said-*
export TRAINER_ENCRYPT=true
logs() { cat "$SCRATCH"/worker-[012]; }
reached() { # STEP
    [ "$(losses "$SCRATCH"/worker-[012] | sort -n | tail -n 1 | cut -d ' ' -f 1)" -ge "$1" ] 2>/dev/null
}
formed() { logs | finds "\"reformed\".*$1"; }
for i in 0 1 2; do start $i --steps 100000; done
wait_until "the first steps" reached 30
kill -KILL "${workers[1]}"
wait "${workers[1]}" 2>/dev/null || true
wait_until "the others to go on" formed 'with 2 of 3 workers'
start 1 --steps 100000
wait_until "its return" formed 'with all 3 workers'
kill -TERM "${workers[0]}"
for i in 0 1 2; do
    code=0
    wait "${workers[$i]}" || code=$?
    assert_eq "code of worker $i when the run is stopped ($(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i"))" 143 $code
done
steps=$(($(losses "$SCRATCH"/worker-[012] | sort -n | tail -n 1 | cut -d ' ' -f 1) + 5))
for i in 0 1 2; do start $i --steps $steps; done
for i in 0 1 2; do wait "${workers[$i]}" || fail "worker $i did not survive: $(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i")"; done
unset TRAINER_ENCRYPT
"$TRAINER" fit face "${MODEL[@]}" --steps $steps >"$SCRATCH/alone"
losses "$SCRATCH/alone" >"$SCRATCH/undisturbed"
losses "$SCRATCH"/worker-[012] | sort -n >"$SCRATCH/told"
differing=$(sort "$SCRATCH/undisturbed" | comm -13 - <(sort -u "$SCRATCH/told"))
[ -z "$differing" ] || fail "losses that the undisturbed run does not have: $differing"
assert_eq "the last step" "$(tail -n 1 "$SCRATCH/undisturbed")" "$(tail -n 1 "$SCRATCH/told")"
