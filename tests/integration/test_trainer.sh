#!/bin/bash
# The real trainer without a cluster: three workers on loopback give the same losses as one. After SIGTERM the trainer saves a checkpoint,
# and the next run resumes from it. A model recognizes people that were not in the training data. Settings that cannot work are rejected
# with an error message.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# The peer timeout is long, because a worker that waits for CPU time must not count as dead. The others may name it as a straggler
# meanwhile.
SMALL=(--data procedural --persons 40 --pictures 6 --held-out 10 --image-size 32 --peer-timeout 60 --log plain)
without_stragglers() { grep -v '^trainer: waiting for ' "$1" || true; }

# fit_together WORKERS OPTION…: run so many workers. The output of worker I goes to $SCRATCH/worker-I.
fit_together() {
    local workers=$1 pids=() i
    shift
    have_addresses "$workers"
    for ((i = 0; i < workers; i++)); do
        TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
            "$TRAINER" fit face "$@" >"$SCRATCH/worker-$i" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || fail "a worker failed: $(tail -n 3 "$SCRATCH"/worker-*)"; done
}
losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$1"; }

fit_together 1 "${SMALL[@]}" --steps 20 --loaders 0
losses "$SCRATCH/worker-0" >"$SCRATCH/one"
fit_together 3 "${SMALL[@]}" --steps 20 --loaders 2 --model-dir "$SCRATCH/model"
losses "$SCRATCH/worker-0" >"$SCRATCH/three"
assert_eq "logged steps" 20 "$(wc -l <"$SCRATCH/three")"
cmp "$SCRATCH/one" "$SCRATCH/three" || fail "the losses of three workers differ from those of one"
for i in 1 2; do
    assert_eq "output of worker $i" "worker $i (${ADDRESSES[i]}) begins with all 3 workers; worker 0 (${ADDRESSES[0]}) shows the progress
worker $i (${ADDRESSES[i]}) has done its part: all 20 steps are done" "$(without_stragglers "$SCRATCH/worker-$i")"
done
assert_contains "the evaluation" "with raw pixels" "$(cat "$SCRATCH/worker-0")"
have_addresses 2
assert_contains "parameter servers that are not used" "those of this cluster are not used" \
    "$(TF_CONFIG="{\"cluster\":{\"worker\":[\"${ADDRESSES[0]}\"],\"ps\":[\"${ADDRESSES[1]}\"]},\"task\":{\"type\":\"worker\",\"index\":0}}" \
        "$TRAINER" fit face "${SMALL[@]}" --steps 1 2>&1)"

# A stopped run must not exit with 0: otherwise a job would count it as a success.
assert_stopped() {
    local code=0
    wait "$1" || code=$?
    assert_eq "exit code of a run that SIGTERM stopped" 143 $code
}

"$TRAINER" fit face "${SMALL[@]}" --steps 100000 --model-dir "$SCRATCH/long" >"$SCRATCH/first" &
long=$!
wait_until "the third step" grep -q '^step 3/' "$SCRATCH/first"
kill -TERM $long
assert_stopped $long
assert_contains "the last line after SIGTERM" "the next run goes on from there" "$(tail -n 1 "$SCRATCH/first")"
last=$(losses "$SCRATCH/first" | tail -n 1 | cut -d ' ' -f 1)
"$TRAINER" fit face "${SMALL[@]}" --steps 100000 --model-dir "$SCRATCH/long" >"$SCRATCH/second" &
long=$!
wait_until "a further step" grep -q '^step ' "$SCRATCH/second"
kill -TERM $long
assert_stopped $long
assert_contains "the resumption" "resumed after step $last" "$(cat "$SCRATCH/second")"

# Worker 2 is killed and started again, then worker 0. The others continue without it, and at most one step is repeated. When both are back,
# all workers are stopped, and the same three workers resume and finish the run.
have_addresses 3
start_worker() { # INDEX STEPS
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$1}}" \
        "$TRAINER" fit face "${SMALL[@]}" --steps "$2" --checkpoint-every 0 --model-dir "$SCRATCH/killed" >>"$SCRATCH/killed-$1" 2>&1 &
    workers[$1]=$!
}
workers=()
clean_up() { for worker in "${workers[@]}"; do kill -KILL "$worker" 2>/dev/null || true; done; }
returns=0
has_returns() { [ "$(grep -c '^going on after step [0-9]* with all 3 workers$' "$SCRATCH/killed-0")" -ge "$1" ]; }
for i in 0 1 2; do start_worker $i 100000; done
for victim in 2 0; do
    wait_until "some steps" grep -q "^step $((victim == 2 ? 5 : 30))/" "$SCRATCH/killed-0"
    kill -KILL "${workers[$victim]}"
    wait "${workers[$victim]}" 2>/dev/null || true
    start_worker $victim 100000
    wait_until "the return of worker $victim" has_returns $((returns += 1))
done
kill -TERM "${workers[0]}"
for i in 0 1 2; do assert_stopped "${workers[$i]}"; done
assert_contains "the message about a lost worker" "lost worker 2" "$(cat "$SCRATCH/killed-0")"
back=$(sed -n 's/^going on after step \([0-9]*\) with all 3 workers$/\1/p' "$SCRATCH/killed-0" | tail -n 1)
[ "${back:-0}" -ge 29 ] || fail "worker 0 joined again at step '$back', which is too early"
steps=$(($(sed -n 's/^stopped after step \([0-9]*\); .*/\1/p' "$SCRATCH/killed-0" | tail -n 1) + 5))
for i in 0 1 2; do start_worker $i $steps; done
for i in 0 1 2; do wait "${workers[$i]}" || fail "worker $i failed: $(tail -n 3 "$SCRATCH/killed-$i")"; done
assert_contains "the end" "step $steps/$steps" "$(cat "$SCRATCH/killed-0")"

"$TRAINER" data faces --gallery "$SCRATCH/people" --samples "$SCRATCH/samples" --persons 3 --seed 5
answer=$("$TRAINER" predict --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/people" "$SCRATCH"/samples/*/*.png)
assert_eq "answers of predict" 3 "$(wc -l <<<"$answer")"
answer=$("$TRAINER" predict --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/people" --probes "$SCRATCH/samples" --output "$SCRATCH/judgement")
assert_contains "probes against a gallery" "3 pictures against a gallery of 3 people: " "$answer"
for file in distances.png roc.csv roc.svg prediction.json; do [ -s "$SCRATCH/judgement/$file" ] || fail "no $file"; done
assert_contains "the evaluation in prediction.json" '"rank1":' "$(cat "$SCRATCH/judgement/prediction.json")"
answer=$("$TRAINER" predict --model "$SCRATCH/model/face.model" --data procedural --persons 5 --pictures 4 --log json)
assert_contains "the evaluation with --log json" '"rawPixels":{"auc":' "$answer"
answer=$("$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/face.onnx")
assert_contains "inputs and outputs of an ONNX file" "output 'embedding' [batch, " "$answer"
[ -s "$SCRATCH/face.onnx" ] || fail "no ONNX file was written"

refused() { # WHAT SENTENCE COMMAND…
    local what=$1 sentence=$2
    shift 2
    if answer=$("$@" 2>&1); then fail "$what was not rejected"; fi
    assert_contains "$what" "$sentence" "$answer"
}
refused "a parameter server" "trains without parameter servers" env \
    'TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]},"task":{"type":"ps","index":0}}' "$TRAINER" fit face
refused "another seed" "was made with seed 1, but this run has 2" "$TRAINER" fit face "${SMALL[@]}" --seed 2 --model-dir "$SCRATCH/model"
refused "an unknown model" "unknown command 'digits'" "$TRAINER" fit digits
refused "half of the classic flags" "'--job-name' is missing" "$TRAINER" fit face --worker_hosts=a:1,b:1 --task_index=1
refused "a worker that does not exist" "task index 5 is out of range" "$TRAINER" fit face --worker_hosts=a:1,b:1 --job_name=worker --task_index=5
refused "a data directory that does not exist" "$SCRATCH/nowhere" "$TRAINER" fit face --data "$SCRATCH/nowhere"
refused "probes without a gallery" "--gallery DIR" "$TRAINER" predict --model "$SCRATCH/model/face.model" --probes "$SCRATCH/samples"
refused "predict without a model" "--model FILE" "$TRAINER" predict
refused "a file that is no model" "is not a model or checkpoint file" "$TRAINER" predict --model "$0"

# `bench allreduce`: with workers on one machine, with workers that pretend to be on two machines, and with the workers of a cluster, of
# which only the first prints the table.
table=$("$TRAINER" bench allreduce --workers 3 --sizes 4KiB,1MiB 2>&1)
assert_contains "the table" "all-reduce among 3 workers" "$table"
assert_eq "marked algorithms" 2 "$(tail -n +3 <<<"$table" | grep -c '\*')"
table=$("$TRAINER" bench allreduce --workers 3 --pretend-hosts 2 --wire bf16 --sizes 1MiB --algorithm hierarchical 2>&1)
assert_contains "the algorithm between machines" "*" "$(tail -n 1 <<<"$table")"
have_addresses 2
benches=()
for i in 0 1; do
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
        "$TRAINER" bench allreduce --transport tcp --sizes 64KiB >"$SCRATCH/bench-$i" 2>&1 &
    benches[i]=$!
done
for i in 0 1; do wait "${benches[i]}" || fail "a measurement failed: $(cat "$SCRATCH"/bench-*)"; done
assert_contains "the output of worker 0" "64 KiB" "$(cat "$SCRATCH/bench-0")"
assert_eq "the output of worker 1" "" "$(without_stragglers "$SCRATCH/bench-1")"
assert_contains "an invalid size" "'3' is not a size" "$("$TRAINER" bench allreduce --workers 2 --sizes 3 2>&1 || true)"
