#!/bin/bash
# A damaged database: `up` serves the intact objects and logs the damaged ones, `check` reports and repairs the damage. A database of an
# earlier format is upgraded.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

UP_OPTIONS=(--no-restart) # the test kills the server, damages its files and starts it again
DATABASE=$TRAINYARD_STATE/store.db

# change_byte FILE TEXT: overwrite the first byte of each occurrence of the text with 0xff, which is never valid in UTF-8.
change_byte() {
    python3 - "$@" <<'EOF'
import sys
path, text = sys.argv[1], sys.argv[2].encode()
data = open(path, "rb").read()
if text not in data:
    sys.exit(f"no '{sys.argv[2]}' in {path}")
open(path, "wb").write(data.replace(text, b"\xff" + text[1:]))
EOF
}

# zero_pages FILE TEXT: overwrite the pages of the database that contain the text with zeros.
zero_pages() {
    python3 - "$@" <<'EOF'
import sys
path, text = sys.argv[1], sys.argv[2].encode()
data = open(path, "rb").read()
pages = [data[at:at + 4096] for at in range(0, len(data), 4096)]
open(path, "wb").write(b"".join(bytes(len(page)) if text in page else page for page in pages))
EOF
}

# Run `check`, require this exit code, and print its output.
check_says() { # EXIT-CODE [OPTION…]
    local code=0
    "$TRAINYARD" check "${@:2}" >"$SCRATCH/check" 2>&1 || code=$?
    [ $code = "$1" ] || fail "check ${*:2}: exit code $code, not $1: $(cat "$SCRATCH/check")"
    cat "$SCRATCH/check"
}

complaints() { grep -c '"subject":"store"' "$TRAINYARD_STATE/trainyard.log"; } # number of messages of the store in the log so far
data_of() { kubectl get configmap "$1" -o "jsonpath={.data.$2}"; }

echo "--- a database of format 1"
mkdir -p "$TRAINYARD_STATE"
install -m 600 "$ROOT/tests/unit/store/data/format1.db" "$DATABASE"
cluster_up
assert_eq "a text from before the upgrade" "καλημέρα" "$(data_of words greek)"
assert_eq "an object of a custom resource" "こんにちは, κόσμε" "$(kubectl get greeting hello -o 'jsonpath={.spec.text}')"
assert_eq "pods" "done waits" "$(kubectl get pods -o 'jsonpath={.items[*].metadata.name}')"
is_gone configmap gone || fail "a deleted object is back"
assert_contains "check while the cluster runs" "run 'trainyard down --state $TRAINYARD_STATE' first" "$(check_says 1)"

echo "--- damaged rows"
kubectl create configmap only --from-literal=a=only-version
kubectl create configmap twice --from-literal=a=first-version
kubectl create configmap twice --from-literal=a=second-version --dry-run=client -o yaml | kubectl replace -f -
kubectl create configmap deleted --from-literal=a=last-words
kubectl delete configmap deleted
"$TRAINYARD" down
assert_contains "check of a healthy database" "'$DATABASE' is healthy" "$(check_says 0)"
change_byte "$DATABASE" only-version
change_byte "$DATABASE" second-version
change_byte "$DATABASE" last-words
cluster_up
assert_eq "config maps after the damage" \
    "kube-root-ca.crt twice words" "$(kubectl get configmaps -o 'jsonpath={.items[*].metadata.name}')"
assert_eq "the data of 'twice' from its older revision" first-version "$(data_of twice a)"
log=$(cat "$TRAINYARD_STATE/trainyard.log")
assert_contains "the log" "of '/configmaps/default/only' is damaged: the object is missing" "$log"
assert_contains "the log" "of '/configmaps/default/twice' is damaged: the older revision" "$log"
assert_contains "the log" "of '/configmaps/default/deleted' is damaged: the object stays deleted" "$log"
assert_contains "the log" "then 'trainyard check --state $TRAINYARD_STATE'" "$log"
kubectl create configmap later --from-literal=a=1
"$TRAINYARD" down

report=$(check_says 1)
assert_contains "the report" "of '/configmaps/default/only' is damaged: the object is missing" "$report"
revision=$(sed -n "s,^revision \([0-9]*\) of '/configmaps/default/only' .*,\1,p" <<<"$report")
"$TRAINYARD" check --show "$revision" | LC_ALL=C finds -a nly-version || fail "--show $revision does not show it"
assert_contains "a text that is no JSON" "its text is not a JSON object" "$(check_says 1 --accept "$revision")"
report=$(check_says 0 --repair)
assert_contains "the repair" "the text of each is in '$TRAINYARD_STATE/damaged'" "$report"
LC_ALL=C grep -qa nly-version "$TRAINYARD_STATE/damaged/$revision"
assert_contains "check after the repair" "is healthy" "$(check_says 0)"
complaints=$(complaints)
cluster_up
assert_eq "config maps after the repair" \
    "kube-root-ca.crt later twice words" "$(kubectl get configmaps -o 'jsonpath={.items[*].metadata.name}')"
assert_eq "messages of the store after the repair" "$complaints" "$(complaints)"

echo "--- a damaged write-ahead log"
kubectl create configmap in-log --from-literal=a=kept-in-the-log
kubectl create configmap behind --from-literal=a=1
pid=$(server_pid)
kill -9 "$pid"
wait_until "the server to end" eval "! is_alive $pid"
change_byte "$DATABASE-wal" kept-in-the-log
cluster_up
log=$(cat "$TRAINYARD_STATE/trainyard.log")
assert_contains "the log" "were acknowledged and are lost" "$log"
assert_contains "the log" "it is kept as '$DATABASE-wal.damaged-1'" "$log"
LC_ALL=C grep -qa ept-in-the-log "$DATABASE-wal.damaged-1"
is_gone configmap in-log || fail "a damaged object is served"
"$TRAINYARD" down
assert_contains "check names the copy" "note: '$DATABASE-wal.damaged-1' is a damaged file that was kept" "$(check_says 0)"

echo "--- a database of a newer version"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 3")' "$DATABASE"
cp "$DATABASE" "$SCRATCH/newer.db"
assert_contains "a newer format" "was written by a newer version of this program (format 3" "$(check_says 1 --repair)"
cmp "$DATABASE" "$SCRATCH/newer.db" || fail "check --repair changed a database of a newer version"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 2")' "$DATABASE"

echo "--- a damaged page"
zero_pages "$DATABASE" '"words"'
if "$TRAINYARD" up --port 0 2>"$SCRATCH/err"; then fail "up with a damaged page"; fi
assert_contains "up with a damaged page" "run 'trainyard check --repair' to keep what can be read" "$(cat "$SCRATCH/err")"
assert_contains "check of a damaged page" "is damaged" "$(check_says 1)"
assert_contains "the rebuild" "the damaged file is kept as '$DATABASE.damaged-1'" "$(check_says 0 --repair)"
cluster_up
assert_eq "an object on another page" 1 "$(data_of later a)"
is_gone configmap words || fail "an object on the damaged page is served"
