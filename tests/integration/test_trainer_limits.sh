#!/bin/bash
# The trainer where the machine gives little: memory, files, threads, room for what it prints. Each want gets a sentence and an exit
# code, and nothing hangs.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FIT=(fit face --data procedural --persons 4 --pictures 3 --image-size 32 --batch-persons 2 --batch-pictures 2 --held-out 0 --steps 2 --log plain)

# limited EXIT-CODES WHAT VALUE COMMAND…: with `ulimit WHAT VALUE`; what it says on both streams. The timeout ends only what hangs.
limited() {
    local want=$1 what=$2 value=$3 code=0
    shift 3
    (ulimit "$what" "$value" && exec timeout -s KILL 120 "$@") >"$SCRATCH/answer" 2>&1 || code=$?
    case " $want " in *" $code "*) ;; *) fail "exit code $code, not $want, of $* with ulimit $what $value: $(tail -n 3 "$SCRATCH/answer")" ;; esac
    cat "$SCRATCH/answer"
}

# --- memory: no thread is started that could not be had, so there is none to wait for at the end
assert_contains "help with little memory" "Usage: trainer" "$(limited 0 -v 60000 "$TRAINER" --help)"
assert_contains "training with little memory" "step 2/2" "$(limited 0 -v 60000 "$TRAINER" "${FIT[@]}")"
assert_contains "too little memory" "memory" "$(limited "1 134" -v 22000 "$TRAINER" "${FIT[@]}")"
