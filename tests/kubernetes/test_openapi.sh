#!/bin/bash
# The fields of Kubernetes' own kinds, in the tables of src/kube/types, are those of a real server: the stored digest of /openapi/v2,
# which `make test` compares with (tests/kubectl/test_openapi.sh), equals that of the real server. With --write the digest is written
# again.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/openapi.sh
. "$KUBERNETES/../lib/openapi.sh"

kubectl get --raw /openapi/v2 | openapi_digest >"$SCRATCH/real"
if [ "${1:-}" = --write ]; then cp "$SCRATCH/real" "$OPENAPI_DIGEST"; fi
diff "$OPENAPI_DIGEST" "$SCRATCH/real" || fail "the digest differs; to write it again: tests/kubernetes/test_openapi.sh --write"
