# shellcheck shell=bash disable=SC2034 # the tests use them
# What the tests of a whole machine share, behind tests/lib/lib.sh. They run in the guest, as its root, and have it for themselves.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

# The ordinary user of the guest, with a manager of systemd as after a log-in; NAME is a word of systemd's for where it runs.
PERSON=(setpriv --reuid=1000 --regid=1000 --init-groups --inh-caps=-all env HOME=/home/person USER=person XDG_RUNTIME_DIR=/run/user/1000)
become_person() {
    AS_USER=("${PERSON[@]}")
    chown -R 1000:1000 "$SCRATCH"
    chmod 755 "$SCRATCH"
    wait_until "the manager of the user to be up" "${PERSON[@]}" systemctl --user is-system-running
}
# Everything that user starts from here on is in a scope that systemd delegates to it.
delegate_scope() { AS_USER=("${PERSON[@]}" systemd-run --user --scope --quiet -p Delegate=yes --); }

# The power of the machine is cut now, and the script begins anew with PHASE as its argument once it has booted.
power_cut() { # PHASE
    echo "machine: cut $1"
    sleep infinity
}

# Nothing of a cluster is left on this machine: no process, no mount, no link, no control group.
assert_nothing_left() {
    assert_eq "processes that are left" "" "$(pgrep -af 'trainyard-step|trainyard up' || true)"
    assert_eq "mounts that are left" "" "$(grep -F trainyard-test /proc/self/mountinfo || true)"
    assert_eq "control groups that are left" "" "$(find /sys/fs/cgroup -type d -name 'trainyard-[0-9a-f]*' -o -type d -name trainyard-self)"
    assert_eq "links that are left" "" "$(ip -o link show | grep -E 'ty0|tyo' || true)"
}
