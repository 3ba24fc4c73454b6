# shellcheck shell=bash disable=SC2016,SC2034 # backquotes are text; the tests use them
# Compares the fields of Kubernetes' own kinds in our OpenAPI document with those of Kubernetes 1.20.2. Source it after lib.sh.
#
# openapi-1.20.2 holds the digest of a real server, one line per field. tests/kubernetes/test_openapi.sh checks it against a real server,
# and writes it again with --write.

OPENAPI_DIGEST=$ROOT/tests/lib/openapi-1.20.2

openapi_digest() { jq -r -f "$ROOT/tests/lib/openapi_digest.jq" | LC_ALL=C sort; } # <document >lines

# Every field of the real server exists in ours with the same type and merge rules, or docs/unsupported.md lists it; and
# docs/unsupported.md lists no others.
openapi_compare() { # REAL OURS
    LC_ALL=C comm -23 "$1" "$2" >"$SCRATCH/differ"
    cut -d' ' -f1 "$SCRATCH/differ" | LC_ALL=C sort >"$SCRATCH/differ-names"
    sed '1,/^## Fields that are not as in/d' "$ROOT/docs/unsupported.md" | sed -n 's/^| `\([^`]*\)` .*/\1/p' | LC_ALL=C sort >"$SCRATCH/named"
    local unnamed idle
    unnamed=$(LC_ALL=C comm -23 "$SCRATCH/differ-names" "$SCRATCH/named")
    idle=$(LC_ALL=C comm -13 "$SCRATCH/differ-names" "$SCRATCH/named")
    [ -z "$unnamed" ] || {
        cat "$SCRATCH/differ"
        fail "fields differ from Kubernetes 1.20.2 and are not listed in docs/unsupported.md: $unnamed"
    }
    [ -z "$idle" ] || fail "docs/unsupported.md lists fields that are the same as in Kubernetes 1.20.2: $idle"
}
