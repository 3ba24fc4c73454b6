#!/bin/bash
# Somebody logs in, as Debian does it by itself (PAM and systemd-logind), and starts a cluster without any right: its pods run and outlive the log-out; limits
# do not hold in the group of a session, and the event says what to do; who does that has them, also after the log-out.
# shellcheck disable=SC2119 source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

as_user() {
    local words scope=
    printf -v words '%q ' "$@"
    [ "${2:-}" != up ] || scope=${SCOPE[*]}
    su -l person -c "TRAINYARD_STATE=$TRAINYARD_STATE exec $scope $words"
}
is_state() { [ "$(loginctl show-user person -p State --value)" = "$1" ]; } # as logind has the user
clean_up() { loginctl enable-linger person; } # as the other tests expect it

become_person
loginctl disable-linger person
assert_contains "the group of a session" /session- "$(as_user cat /proc/self/cgroup)"

cluster_up
wait_until "the user to be logged out, with processes that are left" is_state closing
add_told
start_pods
wait_for_phase told Running
assert_contains "the event" "limits of cpu and memory are not enforced here: an ordinary user needs a control group of its own for that: start the cluster with \
\`systemd-run --user --scope -p Delegate=yes trainyard up\`" "$(kubectl get events --field-selector reason=LimitsNotEnforced -o jsonpath='{.items[*].message}')"
assert_eq "what the pod can do after the log-out" fine "$(kubectl exec told -- echo fine)"
cluster_wipe
assert_nothing_left

# Done as the event says.
loginctl enable-linger person
wait_until "the manager of the user to be up" test -S /run/user/1000/bus
delegate_scope
cluster_up
wait_until "the user to be logged out" is_state lingering
add_told
start_pods
check_files
assert_eq "events of limits that do not hold" "" "$(kubectl get events --field-selector reason=LimitsNotEnforced -o name)"
cluster_wipe
assert_nothing_left
