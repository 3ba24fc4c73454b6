#!/bin/bash
# The examples of 'trainer … --help' go together: typed one after the other in one directory, as a reader would, each finds
# what those before it left and none is in another's way. What is typed here and what the help says is the same.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

TRAINER=$(realpath "$TRAINER")
mkdir "$SCRATCH/here" && cd "$SCRATCH/here"

# What a reader has: photographs of people, ratings, and a data set of pictures that is installed (here a small one: the
# faces drawn, with each person a label).
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
export TF_DATA_DIR=$SCRATCH/installed # for what has no --data
INSTALLED=/usr/share/datasets/fashion-mnist

# The examples in an order in which they make sense, each with what only makes it shorter, or takes any free port, after '|'.
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
NOT_HERE=--worker_hosts=b:2222 # names machines that nobody has

serve() { # ARGUMENT…: until its page answers
    "$TRAINER" "$@" >"$SCRATCH/said" 2>&1 &
    local server=$!
    wait_until "the page of '$*'" grep -q 'http://' "$SCRATCH/said"
    curl -sf -o /dev/null "$(grep -o 'http://[0-9.:]*' "$SCRATCH/said" | sed -n 1p)/" || fail "no page: $*"
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

commands() { # COMMAND…: it, and those below it
    local below
    printf '%s\n' "$*"
    for below in $("$TRAINER" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
        commands "$@" "$below"
    done
}
examples() { # all there are
    local command
    commands | while read -ra command; do
        "$TRAINER" "${command[@]}" --help | sed -n '/^Examples:/,$s/^  \(trainer .*\)/\1/p'
    done
}
assert_eq "the examples there are, and those typed here" "$(cut -d '|' -f 1 "$SCRATCH/typed" | sort)" \
    "$(examples | grep -vF -e "$NOT_HERE" | sort)"
