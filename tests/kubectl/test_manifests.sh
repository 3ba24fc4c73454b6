#!/bin/bash
# manifests/install.yaml can be applied plainly and then server-side: it has the fields that the server would fill in within values that
# have one owner as a whole, so that there is no conflict.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

cluster_up
INSTALL=$ROOT/manifests/install.yaml

kubectl apply -f "$INSTALL"
kubectl apply --server-side -f "$INSTALL" || fail "a server-side apply after a plain one"
kubectl apply --server-side -f "$INSTALL" || fail "a second server-side apply"
