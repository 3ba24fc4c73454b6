#!/bin/bash
# Limits of root's pods beside the groups of systemd, and what kubectl top reads from them.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

# systemd writes the controllers of the groups it knows anew; those of the pods are not its own.
check_reload() {
    systemctl daemon-reload
    systemd-run --quiet --wait -p CPUWeight=50 -p MemoryMax=1G true
    assert_eq "cpu.max after systemd looked at its groups" "50000 100000" "$(container_file told cpu.max)"
    assert_eq "memory.max then" $((64 << 20)) "$(container_file told memory.max)"
}

add_told # starts with those of check_enforced
add_use
check_enforced
check_files
check_reload
wait_until "the time of a pod to be shown" shows_use "$KUBECTL" 2 1 spins
wait_until "the memory of a pod to be shown" shows_use "$KUBECTL" 3 64 holds
kubectl delete pod spins holds
check_swept
assert_nothing_left
