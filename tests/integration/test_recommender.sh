#!/bin/bash
# `trainer fit recommender` and `trainer recommend`: one process alone, workers and parameter servers with the classic flags, runs that are
# ended by signals and resumed, and error messages.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cd "$SCRATCH"
awk 'BEGIN {
    srand(1)
    print "userId,movieId,rating,timestamp"
    for (i = 0; i < 12000; i++) {
        user = int(rand() * 200); film = int(rand() * 300)
        printf "%d,%d,%.1f,%d\n", user, film, 3.2 + 1.7 * cos(6.2831853 * (user / 200 - film / 300)) + rand() - 0.5, i
    }
}' >ratings.csv

refused() { # EXIT-CODE TEXT COMMAND…
    local code=0 said
    said=$("${@:3}" 2>&1) || code=$?
    assert_eq "exit code of '${*:3}'" "$1" "$code"
    assert_contains "'${*:3}'" "$2" "$said"
}
auc() { sed -n 's/.*AUC \([0-9.]*\).*/\1/p' "$1" | tail -1; }
learnt() { awk -v auc="$(auc "$1")" 'BEGIN { exit !(auc > 0.9) }' || fail "no AUC above 0.9 in: $(tail -3 "$1")"; }

echo "--- alone, both models, both labels"
number=0
for options in "--kind deepfm" "--kind deepfm --label rating" "--kind mlp" "--kind mlp --label like"; do
    # shellcheck disable=SC2086 # options are words
    "$TRAINER" fit recommender --data ratings.csv --epochs 12 --batch 128 --model_dir=model-$((++number)) $options >alone.log
    learnt alone.log
    "$TRAINER" recommend --model model-$number/recommender.model --data ratings.csv --user 7 --top 3 >top.log
    assert_eq "lines of 'recommend'" 5 "$(wc -l <top.log)"
done
mv model-$number model
"$TRAINER" recommend --model model/recommender.model --data . --user 7 --top 3 -o json | jq -e '.items | length == 3' >/dev/null

echo "--- error messages"
refused 2 "no ratings given: use --data FILE" "$TRAINER" fit recommender
refused 1 "cannot read 'nowhere.csv'" "$TRAINER" fit recommender --data nowhere.csv
printf '1,2,3,4\n1,2\n' >bad.csv
refused 1 "'bad.csv' line 2 has 2 fields" "$TRAINER" fit recommender --data bad.csv
refused 1 "give the job PS replicas" env TF_CONFIG='{"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":0}}' \
    "$TRAINER" fit recommender --data ratings.csv
refused 1 "remove the evaluator from the job" env \
    TF_CONFIG='{"cluster":{"worker":["a:1"],"ps":["b:1"],"evaluator":["c:1"]},"task":{"type":"evaluator","index":0}}' \
    "$TRAINER" fit recommender --data ratings.csv
refused 2 "'--user ID' is missing" "$TRAINER" recommend --model model/recommender.model --data ratings.csv
refused 2 "is a recommender, for which there is no page: 'trainer recommend --model model/recommender.model" "$TRAINER" serve --model model/recommender.model
refused 1 "user '999' has no ratings in 'ratings.csv'" "$TRAINER" recommend --model model/recommender.model --data ratings.csv --user 999
refused 1 "is not a model or checkpoint file" "$TRAINER" recommend --model ratings.csv --data ratings.csv --user 7

echo "--- alone, interrupted by signals and by kill -9: the model is bit-identical in the end"
run=("$TRAINER" fit recommender --data ratings.csv --batch 128 --checkpoint-every 50 --log plain)
ENDLESS=1000000 # epochs: more than a run can do before the test ends it
mkdir parts
newest() { find parts -name '*.ckpt' | sort | tail -1; }
another_than() { [ -n "$(newest)" ] && [ "$(newest)" != "$1" ]; }
broken_off() { # CODE SIGNAL
    local code=0 before pid
    before=$(newest)
    "${run[@]}" --epochs $ENDLESS --model-dir parts >part.log 2>&1 &
    pid=$!
    wait_until "a checkpoint" another_than "$before"
    kill -"$2" $pid
    wait $pid || code=$?
    assert_eq "exit code after SIG$2" "$1" "$code"
    [ ! -e parts/recommender.model ] || fail "an interrupted run wrote a model"
}
resumed() { sed -n 's/^resumed after step //p' "$1"; }
stopped_after() { sed -n 's/^stopped after step \([0-9]*\); the next run goes on from there/\1/p' part.log; }
broken_off 143 TERM
stopped=$(stopped_after)
broken_off 137 KILL
assert_eq "step after SIGTERM" "$stopped" "$(resumed part.log)"
broken_off 129 HUP
[ "$(resumed part.log)" -gt "$stopped" ] || fail "resumed after step $(resumed part.log), although step $stopped was done before kill -9"
# Enough epochs that the resumed run trains for more than one further epoch. Then the same number of epochs runs without an interruption.
batches=$(sed -n "s|^step [0-9]*/\([0-9]*\)${ENDLESS#1} .*|\1|p" part.log | tail -1) # per epoch
run+=(--epochs $(($(stopped_after) / batches + 2)))
"${run[@]}" --model-dir parts >part.log
"${run[@]}" --model-dir whole >whole.log
cmp whole/recommender.model parts/recommender.model
assert_eq "checkpoints kept" 3 "$(find parts -name '*.ckpt' | wc -l)"
"${run[@]}" --model-dir parts >again.log
assert_contains "a repeated run" "are done already: to train further, raise --epochs" "$(cat again.log)"
assert_eq "steps of the repeated run" "" "$(grep '^step ' again.log || true)"
assert_eq "AUC of the repeated run" "$(auc part.log)" "$(auc again.log)"
refused 2 "was trained with --label like, but this run has rating" "${run[@]}" --label rating --model-dir parts
refused 2 "was trained with --test-percent 10, but this run has 20" "${run[@]}" --test-percent 20 --model-dir parts
head -9000 ratings.csv >fewer.csv
refused 2 "was trained with --data of 12000 ratings" "${run[@]}" --data fewer.csv --model-dir parts
refused 1 "'parts' is in use by" flock parts/run.lock "${run[@]}" --model-dir parts

echo "--- two workers and two parameter servers"
have_addresses 4
PS=${ADDRESSES[0]},${ADDRESSES[1]}
WORKERS=${ADDRESSES[2]},${ADDRESSES[3]}
PIDS=()
start_all() { # OPTION…
    local role index
    rm -f ps-?.log worker-?.log # the checks below must not read the logs of an earlier run
    PIDS=()
    for role in ps worker; do
        for index in 0 1; do
            "$TRAINER" fit recommender --data ratings.csv --batch 128 --model-dir shared --ps_hosts="$PS" --worker_hosts="$WORKERS" \
                --job_name=$role --task_index=$index "$@" >$role-$index.log 2>&1 &
            PIDS+=($!)
        done
    done
}
codes() { # prints the exit codes of all started processes, in the order ps, ps, worker, worker
    local pid code list=
    for pid in "${PIDS[@]}"; do
        code=0
        wait "$pid" || code=$?
        list+=" $code"
    done
    echo "${list# }"
}
refused 1 "no worker connected within 1 s: worker 0 (" "$TRAINER" fit recommender --ps_hosts="$PS" --worker_hosts="$WORKERS" \
    --job_name=ps --task_index=1 --join-timeout 1
start_all --epochs 12
codes >codes.log
assert_eq "exit codes" "0 0 0 0" "$(cat codes.log)"
learnt worker-0.log
own=$(awk '/^this worker did/ { sum += $4 } END { print sum }' worker-?.log)
all=$(sed -n 's/^this worker did [0-9]* of \([0-9]*\) batches/\1/p' worker-0.log)
assert_eq "batches of both workers" "$all" "$own"
[ -s shared/recommender.model ] || fail "the workers wrote no model"

echo "--- SIGTERM to all processes during a run, then the same run is resumed"
rm -rf shared
start_all --epochs $ENDLESS
wait_until "worker 0 to train" grep -q '^step [0-9]' worker-0.log
wait_until "worker 1 to train" grep -q '^step [0-9][0-9]' worker-1.log
kill -TERM "${PIDS[@]}"
codes >codes.log
assert_eq "exit codes" "143 143 143 143" "$(cat codes.log)"
stopped=$(sed -n 's/^stopped after batch \([0-9]*\) .*/\1/p' worker-0.log)
start_all --epochs $ENDLESS
wait_until "worker 0 to train again" grep -q '^step' worker-0.log
kill -TERM "${PIDS[@]}"
codes >codes.log
again=$(sed -n 's/^\([0-9]*\) of [0-9]* batches are done already/\1/p' worker-0.log)
[ "$again" -ge "$stopped" ] || fail "stopped after batch $stopped, but resumed after $again"
echo "stopped after batch $stopped, resumed after $again"
