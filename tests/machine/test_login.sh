#!/bin/bash
# A user logs in with Debian's defaults (PAM and systemd-logind) and starts a cluster without any privilege. The pods run and survive the
# logout. Limits are not enforced in the control group of a session, and an event says what to do. If the user does that, limits are
# enforced, also after the logout.
# shellcheck disable=SC2119 source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

as_user() {
    local words scope=
    printf -v words '%q ' "$@"
    [ "${2:-}" != up ] || scope=${SCOPE[*]}
    su -l person -c "TRAINYARD_STATE=$TRAINYARD_STATE exec $scope $words"
}
is_state() { [ "$(loginctl show-user person -p State --value)" = "$1" ]; } # the state of the user in logind
clean_up() { loginctl enable-linger person; } # as the other tests expect

become_person
loginctl disable-linger person
assert_contains "the group of a session" /session- "$(as_user cat /proc/self/cgroup)"

cluster_up
wait_until "the user to be logged out, with processes still running" is_state closing
add_told
start_pods
wait_for_phase told Running
assert_contains "the event" "limits of cpu and memory are not enforced here: an ordinary user needs a delegated control group: start the cluster with \
\`systemd-run --user --scope -p Delegate=yes trainyard up\`" "$(kubectl get events --field-selector reason=LimitsNotEnforced -o jsonpath='{.items[*].message}')"
assert_eq "a command in the pod after the logout" fine "$(kubectl exec told -- echo fine)"
cluster_wipe
assert_nothing_left

# Follow the advice of the event.
loginctl enable-linger person
wait_until "the manager of the user to be up" test -S /run/user/1000/bus
delegate_scope
cluster_up
wait_until "the user to be logged out" is_state lingering
add_told
start_pods
check_files
assert_eq "events about limits that are not enforced" "" "$(kubectl get events --field-selector reason=LimitsNotEnforced -o name)"
cluster_wipe
assert_nothing_left
