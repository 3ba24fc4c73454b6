#!/bin/bash
# The cluster of these tests works: pods run, have addresses and names, are reached through services, have logs, and can be deleted.
. "$(dirname "$0")/lib.sh"

echo 'one cluster at a time: a second up reports the first one'
marks=$MACHINE/cluster
clean_up() { [ ! -e "$SCRATCH/marks" ] || cp "$SCRATCH/marks" "$marks"; }
cp "$marks" "$SCRATCH/marks"
for mode in '' api; do
    # shellcheck disable=SC2086 # none, or one
    said=$("$KUBERNETES/up" $mode 2>&1) || fail "up $mode: $said"
    assert_eq "up $mode, once more" "kubernetes: a cluster has been up since $(sed -n 2p "$marks") and stays as it is; tests/kubernetes/down ends it
$CACHE/kubeconfig" "$said"
done
refused() { # WHY MARKS
    printf '%s\n' "$2" >"$marks"
    ! said=$("$KUBERNETES/up" 2>&1) || fail "up, while: $2"
    assert_contains "up, while: $2" "$1" "$said"
    cp "$SCRATCH/marks" "$marks"
}
refused 'another up is under way, or was killed' ''
refused '"up api" is up: end it with' "$(sed '1s/.*/api/' "$marks")"
refused 'the cluster of /elsewhere is up' "$(sed '3s/.*/\/elsewhere/' "$marks")"

kubectl apply -f - <<'EOF'
apiVersion: v1
kind: Service
metadata: {name: server}
spec:
  selector: {app: server}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: each}
spec:
  clusterIP: None
  selector: {app: server}
---
apiVersion: v1
kind: Pod
metadata: {name: server, labels: {app: server}}
spec:
  hostname: zero
  subdomain: each
  containers:
  - name: main
    image: trainyard/busybox:1
    command: [sh, -c, "cd /tmp && echo it serves >index.html && exec httpd -f -p 8080"]
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
EOF
wait_until 'the server to be ready' kubectl wait --for=condition=Ready pod/server --timeout=2s

kubectl apply -f - <<'EOF'
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: trainyard/busybox:1
    command: [sh, -c]
    args:
    - |
      until wget -qO- http://server/ && wget -qO- http://server.test-cluster.svc.cluster.local/ &&
        wget -qO- http://each:8080/ && wget -qO- http://zero.each:8080/; do usleep 200000; done
      wget -qO- http://nobody/ 2>/dev/null || echo "nobody is not there"
EOF
wait_for_phase client Succeeded
said=$(kubectl logs client)
assert_contains 'the log of the client' $'it serves\nit serves\nit serves\nit serves\nnobody is not there' "$said"

assert_eq 'a command in the pod' zero "$(kubectl exec server -- sh -c hostname)"
address=$(kubectl get pod server -o jsonpath='{.status.podIP}')
assert_eq 'a pod from this machine' 'it serves' "$(curl -sf "http://$address:8080/")"
assert_eq 'a service from this machine' 'it serves' "$(curl -sf "http://$(kubectl get service server -o jsonpath='{.spec.clusterIP}')/")"

kubectl delete pod server client --grace-period=1
assert_eq 'pods left' '' "$(kubectl get pods -o name)"
