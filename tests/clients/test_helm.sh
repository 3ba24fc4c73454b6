#!/bin/bash
# helm with the chart that `helm create` writes: installed, tested, upgraded, rolled back and removed.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

helm() { "$BUILD/clients/helm" "$@"; }
images_are() { # IMAGE: whether every pod of the release that is not being deleted runs it
    [ "$(kubectl get pods -l app.kubernetes.io/instance=web,app.kubernetes.io/name=demo -o jsonpath='{.items[?(@.spec.serviceAccountName=="web-demo")].spec.containers[0].image}' |
        tr ' ' '\n' | sort -u)" = "$1" ]
}

cluster_up
# The chart's image is nginx, which this machine need not have. An HTTP server that is installed answers in its place.
"$TRAINYARD" image add nginx -- python3 -m http.server 80

cd "$SCRATCH"
helm create demo
helm lint demo
helm install web demo --wait --timeout 5m
assert_eq "replicas after install" 1 "$(kubectl get deployment web-demo -o jsonpath='{.status.readyReplicas}')"
helm get manifest web | finds 'kind: ServiceAccount'
helm test web --timeout 5m --logs | tee test.log
assert_contains "helm test" "Phase:          Succeeded" "$(cat test.log)"

first=$(kubectl get deployment web-demo -o jsonpath='{.spec.template.spec.containers[0].image}')
helm upgrade web demo --set replicaCount=2,image.tag=1.27 --wait --timeout 5m
assert_eq "replicas after upgrade" 2 "$(kubectl get deployment web-demo -o jsonpath='{.status.readyReplicas}')"
wait_until "the pods of the upgrade" images_are nginx:1.27
helm rollback web 1 --wait --timeout 5m
assert_eq "replicas after rollback" 1 "$(kubectl get deployment web-demo -o jsonpath='{.spec.replicas}')"
wait_until "the pods of the rollback" images_are "$first"
assert_eq "revisions" "1 superseded 2 superseded 3 deployed" "$(helm history web -o json | jq -r '.[] | "\(.revision) \(.status)"' | paste -sd ' ')"
helm list -o json | jq -e '.[0].name == "web" and .[0].status == "deployed"' >/dev/null || fail "helm list does not show the release"

# The server checks what an upgrade would write.
helm upgrade web demo --dry-run=server >/dev/null

helm uninstall web --wait --timeout 5m
for kind in deployment service serviceaccount; do
    wait_until "$kind to be gone" is_gone $kind -l app.kubernetes.io/instance=web
done
assert_eq "releases" "[]" "$(helm list -o json)"
