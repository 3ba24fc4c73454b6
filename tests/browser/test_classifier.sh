#!/bin/bash
# The classifier's page in Debian's Chromium, served by the real trainer. Versions of the model are trained while the page is open.
# Takes: the packages of tests/browser.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cd "$ROOT/tests/browser" || exit
npm ci --no-audit --no-fund --loglevel=error

cat >"$SCRATCH/export" <<SH
#!/bin/sh
"$TRAINER" fit classifier --model linear --steps 150 --export-dir "$SCRATCH/versions" >"$SCRATCH/fit.log" 2>&1 || exit
ls "$SCRATCH/versions" | sort -n | tail -1
SH
chmod +x "$SCRATCH/export"
"$TRAINER" serve --model-base-path "$SCRATCH/versions" --port 0 >"$SCRATCH/serve.log" &
server=$!
clean_up() { kill $server; }
wait_until "the page" grep -q 'http://' "$SCRATCH/serve.log"
url=$(grep -o 'http://[0-9.:]*' "$SCRATCH/serve.log")
mkdir -p "$BUILD/screenshots"
node classifier.mjs "$url" "$SCRATCH/export" "$BUILD/screenshots"

# A program sends the same request as to TensorFlow Serving.
picture=$(printf '0,%.0s' {1..783})0
answer=$(curl -s -d "{\"instances\": [[$picture]]}" "$url/v1/models/mnist:predict")
assert_contains "a prediction" '{"predictions":[[' "$answer"
assert_contains "the model's status" '"state":"AVAILABLE"' "$(curl -s "$url/v1/models/mnist")"
answer=$("$TRAINER" serve --model-base-path s3://user1/export 2>&1) && fail "a bucket was not refused"
assert_contains "a bucket" "mount a volume" "$answer"
answer=$("$TRAINER" serve 2>&1) && fail "serve without a model did not fail"
assert_contains "no model" "--model-base-path DIR" "$answer"
