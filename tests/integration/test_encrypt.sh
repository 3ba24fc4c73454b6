#!/bin/bash
# Workers with encrypted connections get the same losses as one worker alone, even if one of them is killed and started again. A worker
# without a job secret, or with a peer that does not encrypt, ends with an error message.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# With 3 and with 2 workers, each worker's share consists of whole parts of the batch (train/team/exact_sum.h). So the losses are
# bit-identical for each number of workers.
MODEL=(--data procedural --persons 24 --pictures 6 --held-out 0 --image-size 32 --width 8 --batch-persons 12 --batch-pictures 4
    --schedule constant --checkpoint-every 50 --peer-timeout 60 --log json)
# shellcheck source=tests/lib/workers.sh
. "$ROOT/tests/lib/workers.sh"
says() { # INDEX CODE SENTENCE: waits until the worker ends, and checks its exit code and its output
    local code=0
    wait "${workers[$1]}" || code=$?
    assert_eq "exit code of worker $1" "$2" $code
    assert_contains "the error output of worker $1" "$3" "$(cat "$SCRATCH/said-$1")"
}

# Without a job secret, and with parameter servers: the worker fails at once, before it waits for its peers.
unset TRAINYARD_JOB_SECRET TRAINYARD_JOB_SECRET_FILE
start 0 --encrypt
says 0 1 "connections cannot be encrypted without a job secret: give all tasks the same TRAINYARD_JOB_SECRET or TRAINYARD_JOB_SECRET_FILE"
code=0
said=$(TF_CONFIG="{\"cluster\":{\"worker\":[\"${ADDRESSES[0]}\"],\"ps\":[\"${ADDRESSES[1]}\"]},\"task\":{\"type\":\"worker\",\"index\":0}}" TRAINER_ENCRYPT=true \
    "$TRAINER" fit recommender --data /nowhere 2>&1) || code=$?
assert_eq "exit code with parameter servers" 1 $code
assert_contains "a cluster with parameter servers" "links to parameter servers cannot be encrypted yet" "$said"

# Only one of two workers encrypts: both fail at once and print why.
TRAINYARD_JOB_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export TRAINYARD_JOB_SECRET
have_addresses 2
start 0
start 1 --encrypt
says 0 1 "only one of the two tasks encrypts its connections: give all tasks --encrypt (TRAINER_ENCRYPT), or none"
says 1 1 "only one of the two tasks encrypts its connections: give all tasks --encrypt (TRAINER_ENCRYPT), or none"

# A worker is killed during a run. The others continue until it is back. Then the run is stopped, and the same workers resume and finish it.
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
wait_until "the other two workers to continue" formed 'with 2 of 3 workers'
start 1 --steps 100000
wait_until "the return of worker 1" formed 'with all 3 workers'
kill -TERM "${workers[0]}"
for i in 0 1 2; do
    code=0
    wait "${workers[$i]}" || code=$?
    assert_eq "exit code of worker $i when the run is stopped ($(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i"))" 143 $code
done
steps=$(($(losses "$SCRATCH"/worker-[012] | sort -n | tail -n 1 | cut -d ' ' -f 1) + 5))
for i in 0 1 2; do start $i --steps $steps; done
for i in 0 1 2; do wait "${workers[$i]}" || fail "worker $i failed: $(tail -n 3 "$SCRATCH/worker-$i" "$SCRATCH/said-$i")"; done
unset TRAINER_ENCRYPT
"$TRAINER" fit face "${MODEL[@]}" --steps $steps >"$SCRATCH/alone"
losses "$SCRATCH/alone" >"$SCRATCH/undisturbed"
losses "$SCRATCH"/worker-[012] | sort -n >"$SCRATCH/told"
differing=$(sort "$SCRATCH/undisturbed" | comm -13 - <(sort -u "$SCRATCH/told"))
[ -z "$differing" ] || fail "losses that differ from the run without faults: $differing"
assert_eq "step and loss at the end" "$(tail -n 1 "$SCRATCH/undisturbed")" "$(tail -n 1 "$SCRATCH/told")"
