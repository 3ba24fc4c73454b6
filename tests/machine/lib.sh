# shellcheck shell=bash disable=SC2034 # the tests use them
# Functions for the tests of a whole machine, on top of tests/lib/lib.sh. The tests run in the guest as root, and no other program uses
# it.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

# ---- The ordinary user of the guest, with a systemd user manager as after a login

PERSON=(setpriv --reuid=1000 --regid=1000 --init-groups --inh-caps=-all env HOME=/home/person USER=person XDG_RUNTIME_DIR=/run/user/1000)
SCOPE=() # the command that starts `up`
become_person() {
    AS_USER=("${PERSON[@]}")
    chown -R 1000:1000 "$SCRATCH"
    chmod 755 "$SCRATCH"
    wait_until "the manager of the user to be up" test -S /run/user/1000/bus
}
# From now on every `up` of that user runs in its own scope, which systemd delegates to the user.
delegate_scope() { SCOPE=(systemd-run --user --scope --quiet -p Delegate=yes --); }
as_user() {
    if [ "${2:-}" = up ]; then "${AS_USER[@]}" "${SCOPE[@]}" "$@"; else "${AS_USER[@]}" "$@"; fi
}

# ---- Fewer programs: in an emulated guest each program takes seconds to start

# kubectl runs as root, whichever user has the cluster. The server validates objects, so kubectl need not load the OpenAPI document.
kubectl() {
    case $1 in
        create) "$KUBECTL" create --validate=false "${@:2}" ;;
        *) "$KUBECTL" "$@" ;;
    esac
}

# One kubectl watches the pods of each cluster and writes a line per change. The functions below read these lines in the shell.
WATCHED='{.type}|{.object.metadata.name}|{.object.metadata.uid}|{.object.status.phase}|{.object.status.containerStatuses[*].restartCount}'
WATCHED+='|{.object.status.containerStatuses[*].state.terminated.reason}|{.object.status.containerStatuses[*].ready}{"\n"}'
on_up() {
    WATCH=$(mktemp "$SCRATCH/watch.XXXXXX")
    kubectl get pods --watch --output-watch-events -o jsonpath="$WATCHED" >"$WATCH" 2>"$WATCH.err" &
}
# watched COLUMN POD: set $WATCHED_AS to the column (uid, phase, restarts, ended or ready) of the pod's last change. POD may be a pattern.
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

# ---- Reset and reboot of the machine

# Keep the cluster's state in DIRECTORY: a cluster does not survive a reboot in /tmp.
keep_state() { # DIRECTORY
    TRAINYARD_STATE=$1
    KUBECONFIG=$TRAINYARD_STATE/kubeconfig
}
# Reset the machine without a warning, or reboot it cleanly. After the boot the script starts again with PHASE as its argument.
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

# Nothing of a cluster may be left on this machine: no process, no mount, no network interface, no control group.
assert_nothing_left() {
    assert_eq "processes that are left" "" "$(pgrep -af 'trainyard-step|trainyard up' || true)"
    assert_eq "mounts that are left" "" "$(grep -F trainyard-test /proc/self/mountinfo || true)"
    assert_eq "control groups that are left" "" "$(find /sys/fs/cgroup -type d -name 'trainyard-[0-9a-f]*' -o -type d -name trainyard-self)"
    assert_eq "network interfaces that are left" "" "$(ip -o link show | grep -E 'ty0|tyo' || true)"
}
