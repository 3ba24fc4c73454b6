#!/bin/bash
# The progress of a job is shown on the job: it is read from the chief while it runs, and at the end from the chief's termination message,
# even if the pod is deleted at once.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/training_yaml.sh
. "$ROOT/tests/lib/training_yaml.sh"

# Serves /progress as the trainer does, at localhost or at the pod's address, one step more for each request.
cat >"$SCRATCH/chief.py" <<'PYTHON'
import http.server, json, os, sys, threading, time

step = 0

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global step
        if self.path != "/progress":
            self.send_error(404)
            return
        step += 1
        body = json.dumps({"step": step, "total": 1000, "loss": 0.5, "rate": 812, "epoch": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
while not os.path.exists("/state/go"):
    time.sleep(0.1)
if sys.argv[3:]:
    with open("/dev/termination-log", "w") as log:
        log.write(sys.argv[3])
PYTHON

# job NAME PORT_NAME ADDRESS PORT HOST_NETWORK [TERMINATION_MESSAGE]
job() {
    # shellcheck disable=SC2016 # single quotes are YAML's here, and $6 is replaced
    cat <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  tfReplicaSpecs:
    Chief:
      template:
        spec:
          hostNetwork: $5
          volumes:
          - {name: state, persistentVolumeClaim: {claimName: state}}
          - {name: code, configMap: {name: code}}
          containers:
          - name: tensorflow
            image: trainyard/tools
            command: [python3, -u, /code/chief.py, $3, "$4"${6:+, '$6'}]
            ports: [{name: $2, containerPort: $4}]
            volumeMounts: [{name: state, mountPath: /state}, {name: code, mountPath: /code}]
YAML
}

# shellcheck disable=SC2053 # a pattern
has_progress() { [[ "$(progress_of "$1")" == $2 ]]; }

cluster_up --nodes 1
kubectl create configmap code --from-file="$SCRATCH/chief.py"
state_volume
job open progress 0.0.0.0 8000 false | kubectl apply -f -
job metrics metrics 127.0.0.1 9090 false | kubectl apply -f -
job machine progress 127.0.0.1 "$(fresh_ports 1)" true | kubectl apply -f -
job silent tensorboard 0.0.0.0 6006 false | kubectl apply -f -
job complete progress 0.0.0.0 8000 false '{"step": 1000, "total": 1000, "loss": 0.25, "report": "/state/run/report.html"}' |
    sed 's/^spec:/&\n  runPolicy: {cleanPodPolicy: All}/' | kubectl apply -f -
for name in open metrics machine complete; do
    wait_until "the progress of $name" has_progress "$name" "step */1000, epoch 1, loss 0.5, 812/s"
done
has_gone_on() { has_progress open "step */1000,*" && ! has_progress open "step 1/1000,*"; }
wait_until "the next step" has_gone_on
touch "$SHARED/go"
for name in open metrics machine silent complete; do wait_for_tfjob "$name" Succeeded; done
assert_contains "the last progress of a job" "/1000, epoch 1, loss 0.5, 812/s" "$(progress_of open)"
assert_eq "the progress from a termination message" "step 1000/1000, loss 0.25" "$(progress_of complete)"
assert_eq "the progress of a job without a known port name" "" "$(progress_of silent)"
assert_contains "the path of the report" "trainyard.dev/report: $SHARED/run/report.html" "$(kubectl describe tfjob complete)"
