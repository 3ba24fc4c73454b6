#!/bin/bash
# The examples of `trainer … --help` work one after the other in one directory, as a reader would type them: each finds the files of the
# examples before it, and none disturbs another. The test also checks that its list of examples equals those of the help.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TRAINER=$(realpath "$TRAINER")
mkdir "$SCRATCH/here" && cd "$SCRATCH/here"

# The data that a reader has: photographs of people, ratings, and an installed data set of pictures. The data set here is a small one: drawn
# faces, with one label per person.
"$TRAINER" data faces --gallery photographs --seed 7 --persons 3 --pictures 2 >/dev/null
"$TRAINER" data faces --gallery labels/train --samples labels/test --persons 10 --pictures 20 --size 32 >/dev/null
"$TRAINER" data convert labels "$SCRATCH/installed" --idx --size 28 --crop off >/dev/null
rm -r labels
awk 'BEGIN {
    srand(1)
    print "userId,movieId,rating,timestamp"
    for (i = 0; i < 4000; i++)
        printf "%d,%d,%d,%d\n", int(rand() * 40), int(rand() * 60), 1 + int(rand() * 5), i
}' >ratings.csv
export TF_DATA_DIR=$SCRATCH/installed # for examples without --data
INSTALLED=/usr/share/datasets/fashion-mnist

# The examples in a useful order. After '|' are options that the test adds: they shorten the run or choose a free port.
SHORT='--steps 2 --image-size 32 --batch-persons 2 --batch-pictures 2'
cat >"$SCRATCH/typed" <<END
trainer data faces --gallery people --samples others --persons 12
trainer data inspect --data people --crop auto
trainer data convert photographs portraits --size 96 --crop cascade
trainer fit face --data procedural --model-dir faces|$SHORT
trainer fit face --data people --held-out 3 --model-dir family --log json|$SHORT
trainer predict --model faces/face.model --data procedural --seed 2
trainer predict --model faces/face.model --gallery people others/ada/005.png
trainer predict --model faces/face.model --gallery people --probes others --output judgement
trainer export --model faces/face.model --output face.onnx
trainer serve --model faces/face.model --gallery people|--port 0
trainer data inspect $INSTALLED
trainer data convert $INSTALLED pictures
trainer data convert pictures data --idx --size 28
trainer fit classifier --model-dir fashion --export-dir export|--steps 2
trainer evaluate --model fashion/classifier.model
trainer serve --model-base-path export --port 5000|--port 0
trainer fit recommender --data ratings.csv --model-dir films|--epochs 1
trainer fit recommender --data ratings.csv --kind mlp --buckets 1000|--epochs 1
trainer recommend --model films/recommender.model --data ratings.csv --user 15
trainer bench allreduce --workers 2|--sizes 4KiB
trainer bench allreduce --workers 4 --transport tcp --sizes 64KiB,1MiB
END
NOT_HERE=--worker_hosts=b:2222 # the example with this option needs machines that do not exist

serve() { # ARGUMENT…: runs the server until its page has answered
    "$TRAINER" "$@" >"$SCRATCH/said" 2>&1 &
    local server=$!
    wait_until "the page of '$*'" grep -q 'http://' "$SCRATCH/said"
    curl -sf -o /dev/null "$(grep -o 'http://[0-9.:]*' "$SCRATCH/said" | sed -n 1p)/" || fail "the page of '$*' does not answer"
    kill $server
    wait $server || true
}

while IFS='|' read -r example shorter; do
    echo "--- $example"
    read -ra words <<<"${example//$INSTALLED/$SCRATCH\/installed} $shorter"
    if [ "${words[1]}" = serve ]; then
        serve "${words[@]:1}"
    else
        "$TRAINER" "${words[@]:1}" >"$SCRATCH/said" 2>&1 </dev/null || fail "$example: $(tail -n 5 "$SCRATCH/said")"
    fi
done <"$SCRATCH/typed"

commands() { # COMMAND…: prints the command and all its subcommands
    local below
    printf '%s\n' "$*"
    for below in $("$TRAINER" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
        commands "$@" "$below"
    done
}
examples() { # prints all examples of the help
    local command
    commands | while read -ra command; do
        "$TRAINER" "${command[@]}" --help | sed -n '/^Examples:/,$s/^  \(trainer .*\)/\1/p'
    done
}
assert_eq "the examples of this test and those of the help" "$(cut -d '|' -f 1 "$SCRATCH/typed" | sort)" \
    "$(examples | grep -vF -e "$NOT_HERE" | sort)"
