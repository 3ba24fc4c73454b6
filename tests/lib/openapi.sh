# shellcheck shell=bash disable=SC2016,SC2034 # backquotes are text; the tests use them
# What OpenAPI says of the fields of Kubernetes' own kinds, ours against that of Kubernetes 1.20.2. Source it after lib.sh.
#
# openapi-1.20.2 holds the real server's, a line a field; tests/kubernetes/test_openapi.sh asks a real server whether it still
# says so, and makes it anew with `tests/kubernetes/test_openapi.sh --write`.

OPENAPI_DIGEST=$ROOT/tests/lib/openapi-1.20.2

openapi_digest() { jq -r -f "$ROOT/tests/lib/openapi_digest.jq" | LC_ALL=C sort; } # <document >lines

# Every field of the real one is in ours and says the same, or docs/unsupported.md names it; and nothing else is named there.
openapi_compare() { # REAL OURS
    LC_ALL=C comm -23 "$1" "$2" >"$SCRATCH/differ"
    cut -d' ' -f1 "$SCRATCH/differ" | LC_ALL=C sort >"$SCRATCH/differ-names"
    sed '1,/^## Fields that are not as in/d' "$ROOT/docs/unsupported.md" | sed -n 's/^| `\([^`]*\)` .*/\1/p' | LC_ALL=C sort >"$SCRATCH/named"
    local unnamed idle
    unnamed=$(LC_ALL=C comm -23 "$SCRATCH/differ-names" "$SCRATCH/named")
    idle=$(LC_ALL=C comm -13 "$SCRATCH/differ-names" "$SCRATCH/named")
    [ -z "$unnamed" ] || {
        cat "$SCRATCH/differ"
        fail "not as in Kubernetes 1.20.2, and not in docs/unsupported.md: $unnamed"
    }
    [ -z "$idle" ] || fail "docs/unsupported.md names what is as in Kubernetes 1.20.2: $idle"
}
