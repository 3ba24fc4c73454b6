#!/bin/bash
# The report of a training run, and the upload page of its model, in Debian's Chromium, served by the real trainer.
# Takes: the packages of tests/browser.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cd "$ROOT/tests/browser" || exit
npm ci --no-audit --no-fund --loglevel=error

"$TRAINER" fit face --data procedural --seed 1 --steps 150 --model-dir "$SCRATCH/model" --log plain >"$SCRATCH/fit.log"
assert_eq "the last line of a run" "report: $SCRATCH/model/report.html" "$(tail -n 1 "$SCRATCH/fit.log")"
"$TRAINER" data faces --seed 3 --gallery "$SCRATCH/people" --samples "$SCRATCH/samples"
"$TRAINER" serve --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/people" --samples "$SCRATCH/samples" \
    --port 0 >"$SCRATCH/serve.log" &
server=$!
clean_up() { kill $server; }
wait_until "the page" grep -q 'http://' "$SCRATCH/serve.log"
url=$(grep -o 'http://[0-9.:]*' "$SCRATCH/serve.log")
picture=$(find "$SCRATCH/samples" -name '*.png' | sort | sed -n 1p)
person=$(basename "$(dirname "$picture")")
echo 'this is no picture' >"$SCRATCH/words.png"
mkdir -p "$BUILD/screenshots"
node report.mjs "$SCRATCH/model/report.html" "$BUILD/screenshots"
node upload.mjs "$url" "$picture" "$person" "$SCRATCH/words.png" "$BUILD/screenshots"
node upload_photos.mjs "$url" "$picture" "$person" "$BUILD/screenshots"

# Requests that no browser would send still get an error message.
answer=$(curl -s -w ' %{http_code}' -X POST "$url/upload")
assert_contains "a body that is no form" "415" "$answer"
answer=$(curl -s -w ' %{http_code}' -F "file=@/dev/null" "$url/upload")
assert_contains "the error for an empty file" "choose a picture" "$answer"
answer=$(head -c 20000000 /dev/zero | curl -s -w ' %{http_code}' -F "file=@-" "$url/upload")
assert_eq "a huge file" '{"error":"the upload is larger than the limit of 12 MiB: send a smaller one"} 413' "$answer"
assert_contains "no such page" "/upload" "$(curl -s "$url/nowhere")"
