#!/bin/bash
# The upload page in Debian's Chromium with people who are not in the gallery, with no face and with two faces. The people are drawn, and
# the face detector (cascade) accepts the drawings. If ORL_ZIP names the archive of the ORL pictures (tests/learning/faces), photographs
# are used instead.
# Takes: the packages of tests/browser.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cd "$ROOT/tests/browser" || exit
npm ci --no-audit --no-fund --loglevel=error

if [ -n "${ORL_ZIP:-}" ]; then
    python3 -m zipfile -e "$ORL_ZIP" "$SCRATCH/orl"
    faces=$(dirname "$(find "$SCRATCH/orl" -type d -name s40 -print -quit)")
    mkdir "$SCRATCH/drawn" "$SCRATCH/train"
    for person in "$faces"/s?; do mv "$person" "$SCRATCH/drawn/"; done
    for person in "$faces"/s1? "$faces"/s[23]?; do mv "$person" "$SCRATCH/train/"; done
    train=(--data "$SCRATCH/train" --held-out 6 --crop auto --steps 250)
    strangers=2
else
    "$TRAINER" data faces --gallery "$SCRATCH/drawn" --persons 32 --pictures 8 --size 64 --seed 5
    "$TRAINER" data inspect --crop cascade "$SCRATCH/drawn" | sed -n "s/^  '\([^']*\)'.*/\1/p" | xargs rm
    train=(--data procedural --seed 1 --steps 150)
    strangers=4
fi
"$TRAINER" fit face "${train[@]}" --model-dir "$SCRATCH/model" --log json >"$SCRATCH/fit.log"

# The first people are the strangers. The last picture of each other person is uploaded.
mkdir "$SCRATCH/people" "$SCRATCH/strangers" "$SCRATCH/probes"
for person in "$SCRATCH"/drawn/*/; do
    name=$(basename "$person")
    [ "$(find "$person" -type f | wc -l)" -gt 2 ] || continue
    if [ $strangers -gt 0 ]; then
        mv "$person" "$SCRATCH/strangers/"
        strangers=$((strangers - 1))
        continue
    fi
    mkdir "$SCRATCH/probes/$name"
    mv "$(find "$person" -type f | sort | tail -n 1)" "$SCRATCH/probes/$name/"
    mv "$person" "$SCRATCH/people/"
done
"$TRAINER" serve --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/people" --port 0 >"$SCRATCH/serve.log" &
server=$!
clean_up() { kill $server; }
wait_until "the page" grep -q 'http://' "$SCRATCH/serve.log"
grep 'a face is recognised below distance 0\.[0-9]*: about 5 % of strangers' "$SCRATCH/serve.log" || fail "no threshold in: $(cat "$SCRATCH/serve.log")"
url=$(grep -o 'http://[0-9.:]*' "$SCRATCH/serve.log")

# Upload every picture of FOLDER. Print what the page answers for each.
ask_all() { find "$SCRATCH/$1" -type f | sort | while read -r picture; do
    printf '%s %s\n' "$(curl -s -F "file=@$picture" "$url/upload" | jq -c '[.known, .nearest[0].name, .found, .confidence]')" "$picture"
done; }
ask_all strangers >"$SCRATCH/of-strangers"
ask_all probes >"$SCRATCH/of-probes"
cat "$SCRATCH/of-strangers" "$SCRATCH/of-probes"
named=$(grep -c '^\[true' "$SCRATCH/of-strangers" || true)
[ "$named" -le $(($(wc -l <"$SCRATCH/of-strangers") / 4)) ] || fail "$named of the strangers' pictures are named"
named=$(grep -c '^\[true' "$SCRATCH/of-probes" || true)
[ "$named" -ge $(($(wc -l <"$SCRATCH/of-probes") / 4)) ] || fail "only $named of the pictures of known people are named"

stranger=$(sed -n 's/^\[false.*no person of the gallery is near"\] //p' "$SCRATCH/of-strangers" | sed -n 1p)
[ -n "$stranger" ] || fail "every stranger is near some person of the gallery"
known=$(sed -n 's/^\[true[^/]*\] //p' "$SCRATCH/of-probes" | sed -n 1p)
mkdir -p "$BUILD/screenshots"
node strangers.mjs "$url" "$known" "$stranger" "$BUILD/screenshots"
