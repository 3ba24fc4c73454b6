# shellcheck shell=bash
# Functions for the tests of limits on a whole machine, which has only control groups of version 2, with all controllers, under systemd.
# shellcheck source=tests/lib/limits.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/limits.sh"
# shellcheck source=tests/machine/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

container_file() { # POD FILE
    local group
    group=$(groups_of "$1")
    cat "$group/container-main/$2"
}

# A pod with limits, and the limits as the kernel shows them in its files.
add_told() { pod told Always 'exec sleep 100000' 'cpu: 500m, memory: 64Mi' 'trainyard.dev/pids-limit: "123"'; }
check_files() {
    wait_for_phase told Running
    assert_eq "hierarchies with groups of the pod" 1 "$(groups_of told | wc -l)"
    assert_eq "cpu.max" "50000 100000" "$(container_file told cpu.max)"
    assert_eq "cpu.weight, of a request of half a processor" 20 "$(container_file told cpu.weight)"
    assert_eq "memory.max" $((64 << 20)) "$(container_file told memory.max)"
    assert_eq "memory.swap.max" 0 "$(container_file told memory.swap.max)"
    assert_eq "memory.oom.group" 1 "$(container_file told memory.oom.group)"
    assert_eq "pids.max of the pod" 123 "$(cat "$(groups_of told)/pids.max")"
    assert_eq "OOM kills so far" 0 "$(container_file told memory.events | sed -n 's/^oom_kill //p')"
}

assert_eq "the versions of control groups here" cgroup2 "$(awk '$3 ~ /^cgroup/ { print $3 }' /proc/mounts | sort -u)"
