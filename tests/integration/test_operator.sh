#!/bin/bash
# The operator as a separate process, with an API server that has no operator inside: two operators with leader election, one killed and one
# terminated during a job; their HTTP endpoints; their messages about wrong options, servers and credentials.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

OPERATORS=()
stop_operators() {
    local pid
    for pid in "${OPERATORS[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
}
clean_up() { stop_operators; }

# start_operator NAME [OPTION…]: sets OPERATOR_PID and writes the URL of the operator to $SCRATCH/NAME.url
start_operator() {
    local name=$1 port
    shift
    port=$(fresh_ports 1)
    echo "http://127.0.0.1:$port" >"$SCRATCH/$name.url"
    # Options with one dash and an equals sign, as deployments of Go programs write them.
    POD_NAME=$name "$TRAINYARD" operator -kubeconfig="$KUBECONFIG" -metrics-bind-address="127.0.0.1:$port" \
        --health-probe-bind-address "127.0.0.1:$port" "$@" 2>>"$SCRATCH/$name.log" &
    OPERATOR_PID=$!
    OPERATORS+=("$OPERATOR_PID")
}
ask() { curl -sS --max-time "$PATIENCE" "$(cat "$SCRATCH/$1.url")$2"; } # NAME PATH
is_ready() { [ "$(curl -s -o /dev/null -w '%{http_code}' "$(cat "$SCRATCH/$1.url")/readyz")" = 200 ]; }
leads() { ask "$1" /metrics | finds -x 'leader_election_master_status{name="trainyard-operator"} 1'; }
metric() { ask "$1" /metrics | sed -n "s/^$2 //p"; } # NAME SERIES
log_says() { grep -qF -- "$2" "$SCRATCH/$1.log"; }

refuse() { # EXIT-CODE SENTENCE OPTION…
    local code=0 expected=$1 sentence=$2 said
    shift 2
    said=$("$TRAINYARD" operator "$@" 2>&1) || code=$?
    assert_eq "exit code of: operator $*" "$expected" "$code"
    assert_contains "the output of 'operator $*'" "$sentence" "$said"
}

mkdir "$SCRATCH/go"
job() { # NAME: creates a job that ends when $SCRATCH/go/NAME exists
    kubectl apply -f - <<YAML
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: $1}
spec:
  runPolicy: {cleanPodPolicy: None}
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: tensorflow
            image: trainyard/tools
            command: [bash, -c, 'until [ -e /go/$1 ]; do read -rt 0.1 <> <(:) || true; done']
            volumeMounts: [{name: go, mountPath: /go}]
          volumes: [{name: go, hostPath: {path: $SCRATCH/go}}]
YAML
}

# ---- Wrong options and servers

refuse 2 "unknown option '--leader-elekt': did you mean '--leader-elect'?" --leader-elekt
refuse 2 "option '--workers'" --workers none
refuse 2 "must be tfjob or pytorchjob" --enable-scheme=tensorjob
refuse 2 "write HOST:PORT or :PORT" --metrics-bind-address=here
refuse 2 "must be the name of a namespace" --namespace=Team_A
refuse 2 "must be a domain name" --cluster-domain="a b"
refuse 2 "must be debug, info, error" --zap-log-level=loud
refuse 2 "must be debug, info, error" --zap-log-level=-1
refuse 2 "--host-port-range: '1' is not a port range" --host-port-range=1
refuse 1 "no kubeconfig" --leader-elect
refuse 1 "'$SCRATCH/none'" --kubeconfig "$SCRATCH/none"

sed "s|server: .*|server: http://127.0.0.1:$(fresh_ports 1)|" >"$SCRATCH/nobody" <<'YAML'
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {
server: here
}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
YAML
# Every option of Kubeflow's training operator 1.9, with its default there, has the same effect here or leads to a message.
understood=(--leader-elect=false --leader-election-id=1ca428e5.training-operator.kubeflow.org --controller-threads=1 --kube-api-qps=20
    --kube-api-burst=30 --gang-scheduler-name= --namespace= --enable-scheme=TFJob --enable-scheme=mpijob -zap-log-level=info)
without_effect=(webhook-server-port=9443 webhook-service-name=training-operator webhook-secret-name=training-operator-webhook-cert
    pytorch-init-container-image=alpine:3.10 pytorch-init-container-template-file=/etc/config/initContainer.yaml
    pytorch-init-container-max-tries=100 mpi-kubectl-delivery-image=mpi zap-devel=true zap-encoder=json zap-stacktrace-level=error
    zap-time-encoding=rfc3339)
start_operator nobody -kubeconfig="$SCRATCH/nobody" "${understood[@]}" "${without_effect[@]/#/--}"
wait_until "the operator to log that it waits for the API server" log_says nobody "waits for the API server http://127.0.0.1:"
for option in "${without_effect[@]%%=*}"; do
    log_says nobody "$option has no effect here: " || fail "no message about --$option"
done
help=$("$TRAINYARD" operator --help)
for option in "${understood[@]}" "${without_effect[@]}" metrics-bind-address health-probe-bind-address kubeconfig; do
    option=${option%%=*}
    option=${option#-}
    assert_contains "the help" "--${option#-}" "$help"
done
for family in leader-elect leader-election-id controller-threads kube-api-qps kube-api-burst gang-scheduler-name namespace enable-scheme \
    zap-log-level webhook- pytorch-init-container- mpi-kubectl-delivery-image zap- metrics-bind-address health-probe-bind-address; do
    grep -qF -- "\`--$family" "$ROOT/docs/operator.md" || fail "docs/operator.md does not mention --$family"
done
log_says nobody "does not run that kind" || fail "no message about MPIJobs"
is_ready nobody && fail "the operator is ready without an API server"
assert_eq "healthz" ok "$(ask nobody /healthz)"
assert_contains "readyz" "waits for the API server" "$(ask nobody /readyz)"
kill "$OPERATOR_PID"
wait "$OPERATOR_PID" || fail "the operator does not exit with 0 after SIGTERM"

# ---- A client certificate that has expired and is renewed while the operator runs

certificate() { # NAME [OPTION…]: makes NAME.pem and NAME-key.pem, self-signed unless the options name a CA
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=IP:127.0.0.1" \
        -keyout "$SCRATCH/$1-key.pem" -out "$SCRATCH/$1.pem" "${@:2}" 2>"$SCRATCH/openssl.log" || fail "$(cat "$SCRATCH/openssl.log")"
}
certificate authority -addext basicConstraints=critical,CA:TRUE
for name in server old renewed; do
    certificate $name -CA "$SCRATCH/authority.pem" -CAkey "$SCRATCH/authority-key.pem" -addext basicConstraints=critical,CA:FALSE
done
cat >"$SCRATCH/server.py" <<'PYTHON'
import http.server, ssl, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        subject = dict(pair for part in self.connection.getpeercert()['subject'] for pair in part)
        body = b'{"gitVersion": "v1.99"}'
        self.send_response(401 if subject['commonName'] == 'old' else 200 if self.path == '/version' else 404)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

directory = sys.argv[1] + '/'
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=directory + 'authority.pem')
context.verify_mode = ssl.CERT_REQUIRED
context.load_cert_chain(directory + 'server.pem', directory + 'server-key.pem')
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(directory + 'server.port', 'w') as file:
    print(server.server_port, file=file)
server.serve_forever()
PYTHON
python3 "$SCRATCH/server.py" "$SCRATCH" &
strict=$!
OPERATORS+=("$strict")
wait_until "the server that requires client certificates" test -s "$SCRATCH/server.port"
cat >"$SCRATCH/certified" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat "$SCRATCH/server.port")", certificate-authority: authority.pem}}]
users: [{name: u, user: {client-certificate: shown.pem, client-key: shown-key.pem}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
YAML
renew() { # NAME: replaces the certificate first, and its key a moment later
    cp "$SCRATCH/$1.pem" "$SCRATCH/next.pem" && mv "$SCRATCH/next.pem" "$SCRATCH/shown.pem"
    cp "$SCRATCH/$1-key.pem" "$SCRATCH/next.pem" && mv "$SCRATCH/next.pem" "$SCRATCH/shown-key.pem"
}
renew old
start_operator certified -kubeconfig="$SCRATCH/certified"
wait_until "the log of the rejected certificate" log_says certified "the client certificate '$SCRATCH/shown.pem', which the kubeconfig"
renew renewed
wait_until "the operator to use the new certificate" log_says certified "answers, version v1.99"
kill "$OPERATOR_PID" "$strict"
wait "$OPERATOR_PID" || fail "the operator does not exit with 0 after SIGTERM"

# ---- Two operators, one of which leads

as_user "$TRAINYARD" up --port 0 --no-operator >"$SCRATCH/up.log"
CLUSTER_UP=yes

# With a token that the server rejects, the operator logs the file that contains it and what to do.
sed 's/token: .*/token: expired/' "$KUBECONFIG" >"$SCRATCH/expired"
start_operator expired -kubeconfig="$SCRATCH/expired"
wait_until "the log of the rejected token" log_says expired "rejects the credentials (401 Unauthorized): the token of the context 'trainyard' in the kubeconfig \
'$SCRATCH/expired' is wrong or has expired: put a valid one there and start again"
assert_contains "readyz" "'$SCRATCH/expired'" "$(ask expired /readyz)"
kill "$OPERATOR_PID"
wait "$OPERATOR_PID"

# A credential plugin runs at the start, and again when the server rejects its credential.
token=$(sed -n 's/.*token: *//p' "$KUBECONFIG")
cat >"$SCRATCH/login" <<'SH'
#!/bin/sh
[ -s "$1" ] || { echo "nobody is logged in" >&2; exit 4; }
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'"$(cat "$1")"'"}}'
SH
chmod 755 "$SCRATCH/login"
sed 's,token: .*,exec: {apiVersion: client.authentication.k8s.io/v1\, command: ./login\, args: ['"$SCRATCH/session"']\, interactiveMode: Never\, \
    installHint: ask your cloud},' "$KUBECONFIG" >"$SCRATCH/plugin"
refuse 1 "credential plugin '$SCRATCH/./login' ended with exit code 4: nobody is logged in; ask your cloud" --kubeconfig "$SCRATCH/plugin"
echo expired >"$SCRATCH/session"
start_operator plugin -kubeconfig="$SCRATCH/plugin"
wait_until "the log of the rejected credential" log_says plugin "the server rejects the credentials from the plugin '$SCRATCH/./login'"
: >"$SCRATCH/session"
wait_until "the operator to log that the plugin fails" log_says plugin "nobody is logged in; ask your cloud; the plugin is run again"
echo "$token" >"$SCRATCH/session"
wait_until "the operator to use the new credential" log_says plugin "answers, version"
kill "$OPERATOR_PID"
wait "$OPERATOR_PID"

job first
start_operator one --leader-elect --leader-election-namespace=default
one=$OPERATOR_PID
wait_until "the first to lead" leads one
start_operator two --leader-elect=true --leader-election-namespace=default
two=$OPERATOR_PID
wait_until "the second to stand by" is_ready two
wait_until "the second to log the leader" log_says two "standing by: one_"
leads two && fail "both lead"
wait_until "the first to be ready" is_ready one
wait_until "the pods of the first job to run" pod_phase_is first-worker-1 Running
touch "$SCRATCH/go/first"
wait_for_tfjob first Succeeded
labels='{job_namespace="default",framework="tensorflow"}'
assert_eq "jobs created" 1 "$(metric one "training_operator_jobs_created_total$labels")"
# The operator counts a success when the server has answered its update. Other clients can see the update earlier.
counts_success() { [ "$(metric "$1" "training_operator_jobs_successful_total$labels")" = 1 ]; }
wait_until "the success to be counted" counts_success one
assert_eq "jobs created according to the standby operator" "" "$(metric two "training_operator_jobs_created_total$labels")"
assert_eq "pods watched" 2 "$(metric one 'trainyard_watched_objects{controller="tfjob-controller",resource="pods"}')"
[ "$(metric one 'rest_client_requests_total{code="201",method="POST"}')" -ge 4 ] || fail "no POST was counted"
grep -q '^{"time":.*"subject":"operator","message":"is the leader' "$SCRATCH/one.log" || fail "the operator's log is not JSON"

# ---- The leader is killed in the middle of a job

job second
wait_until "the pods of the second job to run" pod_phase_is second-worker-1 Running
uid=$(uid_of second-worker-1)
kill -9 "$one"
wait "$one" 2>/dev/null || true
touch "$SCRATCH/go/second"
wait_until "the second to lead" leads two
wait_for_tfjob second Succeeded
assert_eq "the pod is the same" "$uid" "$(uid_of second-worker-1)"
# The second operator does not count the creation of jobs that the first one saw, nor the success of the first job.
assert_eq "jobs created under the second" "" "$(metric two "training_operator_jobs_created_total$labels")"
wait_until "the success to be counted under the second" counts_success two

# ---- An operator that gets SIGTERM releases the lease at once

start_operator three --leader-elect --leader-election-namespace=default
wait_until "the third to stand by" log_says three "standing by: two_"
job third
wait_until "the pods of the third job to run" pod_phase_is third-worker-1 Running
kill "$two"
wait "$two" || fail "the second ended with $?"
log_says two "shut down" || fail "the second did not log 'shut down'"
# The second has released the lease: it has no holder, or the third has it already. It did not have to expire.
holder=$(kubectl get lease trainyard-operator -o jsonpath='{.spec.holderIdentity}')
case $holder in '' | three_*) ;; *) fail "the lease is held by '$holder'" ;; esac
wait_until "the third to lead" leads three
touch "$SCRATCH/go/third"
wait_for_tfjob third Succeeded
kubectl delete tfjob first --wait=false
deleted() { [ "$(metric three "training_operator_jobs_deleted_total$labels")" = 1 ]; }
wait_until "the deletion to be counted" deleted

# ---- Memory and man page

rss=$(metric three process_resident_memory_bytes)
echo "resident memory of the operator: $((${rss%.*} / 1024)) KiB"

[ "$("$TRAINYARD" help --man | grep -c 'leader\\-election\\-id')" -ge 1 ] || fail "the man page lacks the options of the operator"
echo "the operator: leads, stands by, takes over, hands over"
