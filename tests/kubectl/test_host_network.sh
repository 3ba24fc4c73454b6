#!/bin/bash
# TFJobs with hostNetwork: each replica listens on its own port, finds its peers by name, and keeps its port as long as the job runs.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"
UP_OPTIONS=(--no-restart) # the test kills the server and starts the next one itself

# Listens on the port of its TF_CONFIG, reads the name of every worker, and keeps answering until /state/go exists.
cat >"$SCRATCH/worker.py" <<'PYTHON'
import json, os, socket, threading, time

config = json.loads(os.environ["TF_CONFIG"])
workers, index = config["cluster"]["worker"], config["task"]["index"]
server = socket.create_server(("0.0.0.0", int(workers[index].rsplit(":", 1)[1])))

def answer():
    while True:
        connection, peer = server.accept()
        connection.sendall(f"worker {index}\n".encode())
        connection.close()

threading.Thread(target=answer, daemon=True).start()
for worker in workers:
    host, port = worker.rsplit(":", 1)
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                print(f"heard {connection.makefile().read().strip()}", flush=True)
            break
        except OSError:
            time.sleep(0.1)
while not os.path.exists("/state/go"):
    time.sleep(0.1)
PYTHON

# job NAME POLICY
job() {
    cat <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  successPolicy: AllWorkers
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: $2
      template:
        spec:
          hostNetwork: true
          terminationGracePeriodSeconds: 1
          volumes:
          - {name: state, persistentVolumeClaim: {claimName: state}}
          - {name: code, configMap: {name: code}}
          containers:
          - name: tensorflow
            image: trainyard/tools
            command: [python3, -u, /code/worker.py]
            volumeMounts: [{name: state, mountPath: /state}, {name: code, mountPath: /code}]
YAML
}

host_port() { kubectl get pod "$1" -o jsonpath='{.spec.containers[0].ports[0].hostPort}'; }
service_port() { kubectl get service "$1" -o jsonpath='{.spec.ports[0].port}'; }
has_ports() { [ "$(host_ports_of "$1")" = "$2" ]; }

check() {
    cluster_up --nodes 1
    kubectl create configmap code --from-file="$SCRATCH/worker.py"
    state_volume
    job first OnFailure | kubectl apply -f -
    job second OnFailure | kubectl apply -f -
    for name in first second; do
        for index in 0 1; do
            wait_for_log "$name-worker-$index" "heard worker 1"
            assert_eq "the answers that $name-worker-$index received" "heard worker 0
heard worker 1" "$(kubectl logs "$name-worker-$index")"
            assert_eq "the service's port" "$(host_port "$name-worker-$index")" "$(service_port "$name-worker-$index")"
        done
        assert_eq "the ports on the job" "{\"worker\":[$(host_port "$name-worker-0"),$(host_port "$name-worker-1")]}" \
            "$(host_ports_of "$name")"
    done
    assert_eq "ports that differ" 4 "$(for pod in first-worker-0 first-worker-1 second-worker-0 second-worker-1; do
        host_port $pod && echo
    done | sort -u | wc -l)"
    assert_eq "dnsPolicy" ClusterFirstWithHostNet "$(kubectl get pod first-worker-0 -o jsonpath='{.spec.dnsPolicy}')"

    echo "a deleted replica comes back with the same port, also under a new server"
    before=$(host_ports_of first)
    old=$(uid_of first-worker-1)
    kill -9 "$(server_pid)"
    cluster_up --nodes 1
    kubectl delete pod first-worker-1 --wait=false
    wait_until "the pod to be replaced" is_replaced first-worker-1 "$old"
    wait_for_log first-worker-1 "heard worker 1"
    assert_eq "the ports afterwards" "$before" "$(host_ports_of first)"

    echo "the ports of finished jobs are released"
    touch "$SHARED/go"
    wait_for_tfjob first Succeeded
    wait_for_tfjob second Succeeded
    wait_until "the ports of first to be released" has_ports first ""
    wait_until "the ports of second to be released" has_ports second ""
    cluster_wipe
}

check
become_ordinary_user
check
