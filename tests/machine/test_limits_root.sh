#!/bin/bash
# Limits of root's pods beside the control groups of systemd, and the usage that kubectl top reads from them.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

# systemd rewrites the controllers of the groups that it manages. It must not change the groups of the pods.
check_reload() {
    systemctl daemon-reload
    systemd-run --quiet --wait -p CPUWeight=50 -p MemoryMax=1G true
    assert_eq "cpu.max after systemd has updated its groups" "50000 100000" "$(container_file told cpu.max)"
    assert_eq "memory.max then" $((64 << 20)) "$(container_file told memory.max)"
}

add_told # check_enforced starts this pod, too
add_use
check_enforced
check_files
check_reload
wait_until "the time of a pod to be shown" shows_use "$KUBECTL" 2 1 spins
wait_until "the memory of a pod to be shown" shows_use "$KUBECTL" 3 64 holds
kubectl delete pod spins holds
check_swept
assert_nothing_left
