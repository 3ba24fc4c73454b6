#!/bin/bash
# The machine is suspended, as when the lid of a laptop is closed, and a timer wakes it: no pod is restarted, no probe fails, and
# `kubectl logs -f` shows every line. For root and for an ordinary user at once.
# shellcheck disable=SC2119 source=tests/machine/lib.sh
. "$(dirname "$0")/lib.sh"

SLEEP_SECONDS=25 # longer than the timeout of a probe

each_user() { # COMMAND…: run it for both users, one after the other; their clusters run side by side
    AS_USER=() SCOPE=()
    keep_state "$SCRATCH/state-root"
    "$@"
    become_person
    delegate_scope
    keep_state "$SCRATCH/state-person"
    "$@"
}
followed() { echo "$SCRATCH/followed-${TRAINYARD_STATE##*-}"; }
is_followed_to() { [ "$(wc -l <"$(followed)")" -gt "$1" ]; } # LINES

begin() {
    cluster_up
    kubectl create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: counter}
spec:
  containers:
  - name: main
    image: trainyard/tools
    command: [bash, -c, 'i=0; while :; do echo $((i += 1)); sleep 0.5; done']
    livenessProbe: {exec: {command: ["true"]}, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1}
    readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1}
YAML
    wait_until "the pod to be ready" is_ready counter
    kubectl logs -f counter >"$(followed)" 2>"$(followed).err" &
    wait_until "logs -f to print lines" is_followed_to 3
}

check_awake() {
    local lines
    lines=$(wc -l <"$(followed)")
    wait_until "logs -f to print more lines" is_followed_to "$((lines + 5))"
    awk '$1 != NR { print "line " NR " is " $0; exit 1 }' "$(followed)" || fail "the log has a gap from the time of the suspend"
    assert_eq "restarts, and whether it is ready" "0 true" \
        "$(kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].ready}')"
    assert_eq "probes that failed" "" "$(kubectl get events --field-selector reason=Unhealthy -o jsonpath='{.items[*].message}')"
    assert_eq "readiness that was lost" "" "$(sed '1,/|true$/d' "$WATCH" | grep '|false$' || true)"
    assert_eq "whether the node is ready" True "$(kubectl get nodes -o jsonpath="{.items[0].status.conditions[?(@.type=='Ready')].status}")"
    cluster_wipe
}

grep -w mem /sys/power/state >/dev/null || {
    echo 'skipped: this guest cannot be suspended: its /sys/power/state has no "mem"'
    exit 0
}
each_user begin
slept=$(cat /sys/power/suspend_stats/success)
rtcwake --mode mem --seconds $SLEEP_SECONDS
assert_eq "the number of suspends" $((slept + 1)) "$(cat /sys/power/suspend_stats/success)"
each_user check_awake
assert_nothing_left
