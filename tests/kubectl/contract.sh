# shellcheck shell=bash disable=SC1003,SC2015,SC2030,SC2031 # a case is a subshell with variables of its own
# Runs the cases of tests/kubectl/cases with one kubectl against one server, ours or a real one. Sourced by record, compare and
# test_contract.sh. A case is a function case_NAME in the file of its topic, and it has a namespace NAME. Its transcript is its normalised
# output: each command, its stdout, its stderr with "! " before each line, and the exit code.
CONTRACT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CONTRACT_PATIENCE=${PATIENCE:-120} # seconds; only a defect reaches this limit

contract_topics() { (cd "$CONTRACT/cases" && ls); }
contract_cases() { sed -n 's/^case_\([a-z0-9_]*\)() {.*/\1/p' "$CONTRACT/cases/$1" | tr _ -; } # TOPIC

# --- functions for cases

# Run kubectl, and print the command and its output as a terminal shows them.
k() {
    local argument code=0
    printf '$ kubectl'
    for argument in "$@"; do
        case $argument in
        *[!a-zA-Z0-9_./:=,@%+-]* | '') printf " '%s'" "$argument" ;;
        *) printf ' %s' "$argument" ;;
        esac
    done
    echo
    timeout "$CONTRACT_PATIENCE" "$KUBECTL" "$@" >"$CASE_HOME/out" 2>"$CASE_HOME/err" || code=$?
    show
    [ $code = 0 ] || echo "exit $code"
}
show() {
    sed -e "\$a\\" "$CASE_HOME/out"
    sed 's/^/! /' "$CASE_HOME/err"
}

# Print only the lines that match. Used where a real server lists more objects than the case is about.
only() { # REGEX COMMAND…
    local regex=$1
    shift
    "$@" | grep -E "^\\$ |^! |^exit |$regex"
}

# Print only names and types. The descriptions are texts of Kubernetes and are not published here.
only_structure() { # COMMAND…
    only '^(KIND|VERSION|GROUP|FIELD|RESOURCE):|^ *[A-Za-z$][A-Za-z0-9_$]*[[:space:]]+<[^>]*>' "$@" | sed -E 's/[[:space:]]+$//; s/ -required-$//'
}

# Create the objects that a case needs. Prints nothing unless that fails.
given() { # <YAML
    timeout "$CONTRACT_PATIENCE" "$KUBECTL" create --validate=false -f - >"$CASE_HOME/out" 2>"$CASE_HOME/err" || {
        echo 'given:'
        show
        touch "$CASE_HOME/broken" # ends later waits, which could not succeed
    }
}

# Send a request that does not depend on the version of kubectl, and print the answer's body: `raw METHOD PATH [CONTENT-TYPE] <BODY`.
raw() {
    curl -sS -m "$CONTRACT_PATIENCE" --unix-socket "$CONTRACT_SOCKET" -X "$1" -H "Content-Type: ${3:-application/json}" --data-binary @- "http://localhost$2"
}

# Send such a request, and print it with its answer.
request() { # METHOD PATH [CONTENT-TYPE] <BODY
    echo "\$ $1 $2"
    raw "$@" >"$CASE_HOME/out" 2>&1
    jq -cS . "$CASE_HOME/out" 2>/dev/null || sed '$a\' "$CASE_HOME/out"
}

# Write a status, as a controller or a node would: `status PATH-OF-THE-OBJECT JSON`.
status() {
    raw PATCH "$1/status" application/merge-patch+json <<<"{\"status\":$2}" >"$CASE_HOME/out"
    ! grep -q '"kind":"Status"' <(tr -d ' \n' <"$CASE_HOME/out") || {
        echo "status of $1:"
        cat "$CASE_HOME/out"
    }
}
pods() { echo "/api/v1/namespaces/$CASE/pods/$1"; }

# Wait until kubectl prints TEXT. Controllers need a moment.
eventually() { # TEXT KUBECTL-ARGUMENT…
    local wanted=$1 got deadline=$((SECONDS + CONTRACT_PATIENCE))
    shift
    until got=$("$KUBECTL" "$@" 2>&1) && [ "$got" = "$wanted" ]; do
        [ $SECONDS -lt $deadline ] && [ ! -e "$CASE_HOME/broken" ] || {
            echo "eventually: '$got' instead of '$wanted'"
            return 0
        }
        read -rt 0.2 <> <(:) || true
    done
}

# Run a kubectl that does not end by itself until it has printed LINES lines. FUNCTION runs meanwhile.
watching() { # LINES FUNCTION KUBECTL-ARGUMENT…
    local lines=$1 meanwhile=$2 pid deadline=$((SECONDS + CONTRACT_PATIENCE))
    shift 2
    echo "\$ kubectl $* &"
    "$KUBECTL" "$@" >"$CASE_HOME/watch" 2>"$CASE_HOME/watch.err" &
    pid=$!
    # The listed objects come first. A watch without a list prints nothing before the first change.
    [[ $* == *--watch-only* ]] || until [ -s "$CASE_HOME/watch" ] || [ $SECONDS -ge $deadline ]; do read -rt 0.1 <> <(:) || true; done
    $meanwhile >"$CASE_HOME/meanwhile" 2>&1
    until [ "$(wc -l <"$CASE_HOME/watch")" -ge "$lines" ] || [ $SECONDS -ge $deadline ]; do read -rt 0.1 <> <(:) || true; done
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    cat "$CASE_HOME/watch"
    sed 's/^/! /' "$CASE_HOME/watch.err"
}

# Whether this kubectl has at least VERSION. An older one lacks the command, so there is nothing to compare.
since() { # VERSION
    [ "${KUBECTL_VERSION#1.}" -ge "${1#1.}" ] && return
    echo "(kubectl has this from $1 on)"
    return 1
}

# --- running the cases

# Prepare what all cases of a run share: a proxy for `raw`, a kubeconfig whose namespace can be replaced, and the namespaces.
contract_open() { # VERSION KUBECTL KUBECONFIG DIRECTORY CASE…
    KUBECTL_VERSION=$1 KUBECTL=$2 KUBECONFIG=$3 CONTRACT_DIRECTORY=$4
    shift 4
    export KUBECONFIG
    CONTRACT_SOCKET=$CONTRACT_DIRECTORY/socket
    mkdir -p "$CONTRACT_DIRECTORY/home"
    # shellcheck disable=SC2030,SC2031 # each case sets its own
    export HOME=$CONTRACT_DIRECTORY/home GOGC=off KUBERNETES_SERVICE_HOST= # kubectl ends before a garbage collection would pay off
    unset KUBERNETES_SERVICE_HOST
    "$KUBECTL" config view --raw --flatten --minify -o json |
        jq '.contexts[0].context.namespace = "NAMESPACE"' >"$CONTRACT_DIRECTORY/kubeconfig" || return
    CONTRACT_SERVER=$(jq -r '.clusters[0].cluster.server' "$CONTRACT_DIRECTORY/kubeconfig")
    "$KUBECTL" proxy --unix-socket="$CONTRACT_SOCKET" >"$CONTRACT_DIRECTORY/proxy.log" 2>&1 &
    CONTRACT_PROXY=$!
    local deadline=$((SECONDS + CONTRACT_PATIENCE)) name
    until [ -S "$CONTRACT_SOCKET" ] && raw GET /readyz </dev/null >/dev/null 2>&1; do
        [ $SECONDS -lt $deadline ] || return
        read -rt 0.1 <> <(:) || true
    done
    for name; do
        raw POST /api/v1/namespaces <<<"{\"metadata\":{\"name\":\"$name\"}}"
    done >"$CONTRACT_DIRECTORY/namespaces"
    # Without a service account every pod is refused. With its token a pod would get a volume with a random name.
    for name; do
        deadline=$((SECONDS + CONTRACT_PATIENCE))
        until raw PATCH "/api/v1/namespaces/$name/serviceaccounts/default" application/merge-patch+json \
            <<<'{"automountServiceAccountToken":false}' | grep -c '"automountServiceAccountToken": *false' >/dev/null; do
            [ $SECONDS -lt $deadline ] || return
            read -rt 0.1 <> <(:) || true
        done
    done
}

contract_close() {
    kill "$CONTRACT_PROXY" 2>/dev/null
    wait "$CONTRACT_PROXY" 2>/dev/null || true
}

contract_run_case() ( # TOPIC CASE OUT
    set +e +u +o pipefail
    CASE=$2
    CASE_HOME=$CONTRACT_DIRECTORY/$CASE
    mkdir -p "$CASE_HOME"
    cd "$CASE_HOME" || exit
    sed "s/\"NAMESPACE\"/\"$CASE\"/" "$CONTRACT_DIRECTORY/kubeconfig" >"$CASE_HOME/kubeconfig"
    export KUBECONFIG=$CASE_HOME/kubeconfig TMPDIR=$CASE_HOME
    # shellcheck source=/dev/null
    [ -z "$1" ] || . "$CONTRACT/cases/$1"
    "case_${CASE//-/_}" </dev/null 2>&1 |
        sed -E -e "s,$CONTRACT_SERVER,SERVER,g" -e "s,$CASE_HOME,DIRECTORY,g" -f "$CONTRACT/normalise.sed" |
        contract_sort_causes >"$3"
)
# Sort the errors of one object, because servers list them in different orders.
contract_sort_causes() {
    awk '/^! \* / { print | "LC_ALL=C sort"; sorting = 1; next } sorting { close("LC_ALL=C sort"); sorting = 0 } { print; fflush() }'
}

# Run all cases whose name matches, several at a time. OUT gets one transcript per case.
contract_run() { # VERSION KUBECTL KUBECONFIG OUT [REGEX]
    local regex=${5:-.} topic name cases=() rows=() row
    for topic in $(contract_topics); do
        for name in $(contract_cases "$topic"); do
            [[ $name =~ $regex ]] || continue
            cases+=("$name")
            rows+=("$topic $name")
        done
    done
    mkdir -p "$4"
    (
        directory=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-kubectl.XXXXXX")
        trap 'contract_close; rm -rf "$directory"' EXIT
        contract_open "$1" "$2" "$3" "$directory" "${cases[@]}" || {
            echo "contract: the server of $3 did not become ready, or did not create the namespaces" >&2
            exit 1
        }
        running=0
        for row in "${rows[@]}"; do
            # shellcheck disable=SC2086 # two words
            contract_run_case $row "$4/${row#* }" &
            running=$((running + 1))
            if [ $running -ge "${CONTRACT_JOBS:-4}" ]; then
                wait -n
                running=$((running - 1))
            fi
        done
        for row in $(jobs -p); do [ "$row" = "$CONTRACT_PROXY" ] || wait "$row"; done
    )
}

# Print the transcript of one case from the file of a topic.
contract_section() { awk -v name="=== $2" '/^=== /{on = $0 == name; next} on' "$1"; } # FILE CASE
