#!/bin/bash
# The trainer with few resources: memory, files, threads, disk space for its output. It prints a message for each shortage, exits with the
# right code, and never hangs.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FIT=(fit face --data procedural --persons 4 --pictures 3 --image-size 32 --batch-persons 2 --batch-pictures 2 --held-out 0 --steps 2 --log plain)

# limited EXIT-CODES WHAT VALUE COMMAND…: run the command with `ulimit WHAT VALUE`, require one of the exit codes, and print its standard
# output and error. The timeout is only reached if the command hangs.
limited() {
    local want=$1 what=$2 value=$3 code=0
    shift 3
    (ulimit "$what" "$value" && exec timeout -s KILL 120 "$@") >"$SCRATCH/answer" 2>&1 || code=$?
    case " $want " in *" $code "*) ;; *) fail "exit code $code, not $want, of $* with ulimit $what $value: $(tail -n 3 "$SCRATCH/answer")" ;; esac
    cat "$SCRATCH/answer"
}

# --- memory: a thread that cannot be started is not waited for at the end
assert_contains "help with little memory" "Usage: trainer" "$(limited 0 -v 60000 "$TRAINER" --help)"
assert_contains "training with little memory" "step 2/2" "$(limited 0 -v 60000 "$TRAINER" "${FIT[@]}")"
assert_contains "too little memory" "memory" "$(limited "1 134" -v 22000 "$TRAINER" "${FIT[@]}")"

# --- standard output is on a full disk: a command whose result is its output fails; training does not
people=$SCRATCH/people
"$TRAINER" data faces --gallery "$people" --persons 3 --pictures 3 --size 64 >/dev/null
"$TRAINER" "${FIT[@]}" --model-dir "$SCRATCH/model" >/dev/null
{
    echo userId,movieId,rating,timestamp
    for user in 1 2 3 4 5 6; do for movie in 1 2 3 4 5; do echo $user,$movie,$((1 + (user * movie) % 5)),0; done; done
} >"$SCRATCH/ratings.csv"
"$TRAINER" fit recommender --data "$SCRATCH/ratings.csv" --epochs 1 --model-dir "$SCRATCH/films" >/dev/null

assert_contains "a user without ratings" "user 'abc' has no ratings in '$SCRATCH/ratings.csv'" \
    "$("$TRAINER" recommend --model "$SCRATCH/films/recommender.model" --data "$SCRATCH/ratings.csv" --user abc 2>&1)"

full() { # EXIT-CODE COMMAND…: runs the command with its standard output on a full disk
    local want=$1 code=0
    shift
    "$@" >/dev/full 2>"$SCRATCH/answer" || code=$?
    assert_eq "exit code of $* on a full disk" "$want" $code
    assert_contains "$*" "trainer: cannot write standard output" "$(cat "$SCRATCH/answer")"
}
full 1 "$TRAINER" --help
full 1 "$TRAINER" help fit face
full 1 "$TRAINER" fit face --help
full 1 "$TRAINER" help --man
full 1 "$TRAINER" --version
assert_contains "the error message" "cannot write standard output: No space left on device: the output is incomplete" "$(cat "$SCRATCH/answer")"
full 1 "$TRAINER" predict --model "$SCRATCH/model/face.model" --gallery "$people" --probes "$people"
full 1 "$TRAINER" recommend --model "$SCRATCH/films/recommender.model" --data "$SCRATCH/ratings.csv" --user 1
full 1 "$TRAINER" data inspect "$people"
full 1 "$TRAINER" data convert "$people" "$SCRATCH/cut" --size 32
full 1 "$TRAINER" data faces --gallery "$SCRATCH/more" --persons 2 --pictures 2
full 1 "$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/face.onnx"
full 0 "$TRAINER" "${FIT[@]}" --model-dir "$SCRATCH/model2"
[ -s "$SCRATCH/model2/face.model" ] || fail "training with a full standard output wrote no model"
code=0
"$TRAINER" --help 2>/dev/null | read -r _ || code=$?
assert_eq "exit code if the reader of the pipe closes it early" 0 $code

# --- files of at most one block, few open files, few threads: an error message, and no incomplete file
for command in "data faces --gallery $SCRATCH/small --size 128" "export --model $SCRATCH/model/face.model --output $SCRATCH/small.onnx"; do
    # shellcheck disable=SC2086 # words
    assert_contains "$command" "File too large" "$(limited 1 -f 1 "$TRAINER" $command)"
done
assert_eq "incomplete files" "" "$(find "$SCRATCH/small" "$SCRATCH" -maxdepth 1 -name 'small.onnx*')$(find "$SCRATCH/small" -type f)"
assert_contains "few open files" "Too many open files" "$(limited 1 -n 5 "$TRAINER" "${FIT[@]}" --model-dir "$SCRATCH/few")"

# The limit on threads counts all threads of a user, and does not apply to root. So the trainer runs as an unused user id, which has no
# other threads. The limit of 2 allows the training thread and the thread that loads pictures.
if [ "$(id -u)" = 0 ]; then
    user=$((2000000000 + RANDOM))
    install -m 755 "$TRAINER" "$SCRATCH/bin-trainer"
    install -d -o $user "$SCRATCH/home-$user"
    chmod 755 "$SCRATCH"
    said=$(limited 1 -u 2 setpriv --reuid=$user --regid=$user --clear-groups -- "$SCRATCH/bin-trainer" "${FIT[@]}" --model-dir "$SCRATCH/home-$user/model")
    assert_contains "few threads" "cannot start the thread that writes checkpoints: Resource temporarily unavailable" "$said"
    case $said in *'step 1/'*) fail "training began although checkpoints cannot be written: $said" ;; esac
fi

# --- the name of a folder is escaped in the report
odd="$SCRATCH/\"><script>alert(1)</script>'&"
"$TRAINER" "${FIT[@]}" --model-dir "$odd" >/dev/null
! grep -q '<script>alert' "$odd/report.html" || fail "the name of a folder is not escaped in the report"
jq -e . "$odd/report.json" >/dev/null

# --- with --log json the last event is the error message
code=0
"$TRAINER" fit face --data "$SCRATCH/nowhere" --log json >"$SCRATCH/events" 2>"$SCRATCH/answer" || code=$?
assert_contains "the error message on standard error" "trainer: " "$(cat "$SCRATCH/answer")"
assert_eq "the error event" "error $(sed 's/^trainer: //' "$SCRATCH/answer" | tail -n 1)" \
    "$(tail -n 1 "$SCRATCH/events" | jq -r '"\(.event) \(.message)"')"
"$TRAINER" fit face --data "$SCRATCH/nowhere" --log plain >"$SCRATCH/events" 2>&1 || true
! grep -q '"event"' "$SCRATCH/events" || fail "the trainer prints events without --log json"
