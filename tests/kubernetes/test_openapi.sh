#!/bin/bash
# The fields of Kubernetes' own kinds, in the tables of src/kube/types, are those that a real server tells of: the digest of its
# /openapi/v2 that `make test` compares with (tests/kubectl/test_openapi.sh) is what it says. With --write it is made anew.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/openapi.sh
. "$KUBERNETES/../lib/openapi.sh"

kubectl get --raw /openapi/v2 | openapi_digest >"$SCRATCH/real"
if [ "${1:-}" = --write ]; then cp "$SCRATCH/real" "$OPENAPI_DIGEST"; fi
diff "$OPENAPI_DIGEST" "$SCRATCH/real" || fail "Kubernetes says something else: tests/kubernetes/test_openapi.sh --write"
