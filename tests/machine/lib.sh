# shellcheck shell=bash disable=SC2034 # the tests use them
# What the tests of a whole machine share, behind tests/lib/lib.sh. They run in the guest, as its root, and have it for themselves.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

# ---- The ordinary user of the guest, with a manager of systemd as after a log-in

PERSON=(setpriv --reuid=1000 --regid=1000 --init-groups --inh-caps=-all env HOME=/home/person USER=person XDG_RUNTIME_DIR=/run/user/1000)
SCOPE=() # what `up` is started with
become_person() {
    AS_USER=("${PERSON[@]}")
    chown -R 1000:1000 "$SCRATCH"
    chmod 755 "$SCRATCH"
    wait_until "the manager of the user to be up" test -S /run/user/1000/bus
}
# Every `up` of that user from here on is in a scope of its own that systemd delegates to it.
delegate_scope() { SCOPE=(systemd-run --user --scope --quiet -p Delegate=yes --); }
as_user() {
    if [ "${2:-}" = up ]; then "${AS_USER[@]}" "${SCOPE[@]}" "$@"; else "${AS_USER[@]}" "$@"; fi
}

# ---- A program costs seconds to start in an emulated guest

# As root, whoever has the cluster; the server checks what is made, so kubectl need not load all that is known of the API.
kubectl() {
    case $1 in
        create) "$KUBECTL" create --validate=false "${@:2}" ;;
        *) "$KUBECTL" "$@" ;;
    esac
}

# So one kubectl watches the pods of each cluster and writes a line for every change; what is waited for is read there, by the shell itself.
WATCHED='{.type}|{.object.metadata.name}|{.object.metadata.uid}|{.object.status.phase}|{.object.status.containerStatuses[*].restartCount}'
WATCHED+='|{.object.status.containerStatuses[*].state.terminated.reason}|{.object.status.containerStatuses[*].ready}{"\n"}'
on_up() {
    WATCH=$(mktemp "$SCRATCH/watch.XXXXXX")
    kubectl get pods --watch --output-watch-events -o jsonpath="$WATCHED" >"$WATCH" 2>"$WATCH.err" &
}
# watched COLUMN POD: uid, phase, restarts, ended or ready, as the last change had it, in $WATCHED_AS. POD may be a pattern.
watched() {
    local type name uid phase restarts ended ready
    WATCHED_AS=
    while IFS='|' read -r type name uid phase restarts ended ready; do
        # shellcheck disable=SC2053 # a pattern
        [[ $name != $2 ]] || WATCHED_AS=${!1}
    done <"$WATCH"
    [ -n "$WATCHED_AS" ]
}
uid_of() { wait_until "pod $1 to be known" watched uid "$1" && watched uid "$1" && echo "$WATCHED_AS"; }
pod_phase_is() { watched phase "$1" && [ "$WATCHED_AS" = "$2" ]; }
is_ready() { watched ready "$1" && [ "$WATCHED_AS" = true ]; }
ended_as() { watched ended "$1" && [ "$WATCHED_AS" = "$2" ]; }
restarted() { watched restarts "$1" && [ "$WATCHED_AS" -ge "$2" ]; }

# ---- What happens to the machine

# A cluster outlives the machine only where the machine keeps its files: not in /tmp.
keep_state() { # DIRECTORY
    TRAINYARD_STATE=$1
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
}
# The machine is reset without a warning, or reboots in its order; the script begins anew with PHASE as its argument once it is up again.
reset_machine() { # PHASE
    trap - EXIT
    echo "machine: reset $1"
    sleep infinity
}
reboot_machine() { # PHASE
    trap - EXIT
    echo "machine: reboot $1"
    systemctl reboot
    sleep infinity
}

# Nothing of a cluster is left on this machine: no process, no mount, no link, no control group.
assert_nothing_left() {
    assert_eq "processes that are left" "" "$(pgrep -af 'trainyard-step|trainyard up' || true)"
    assert_eq "mounts that are left" "" "$(grep -F trainyard-test /proc/self/mountinfo || true)"
    assert_eq "control groups that are left" "" "$(find /sys/fs/cgroup -type d -name 'trainyard-[0-9a-f]*' -o -type d -name trainyard-self)"
    assert_eq "links that are left" "" "$(ip -o link show | grep -E 'ty0|tyo' || true)"
}
