#!/bin/bash
# Limits of root's pods beside the groups of systemd.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

# systemd writes the controllers of the groups it knows anew; those of the pods are not its own.
check_reload() {
    pod kept Always 'exec sleep 100000' 'cpu: 500m, memory: 64Mi'
    wait_for_phase kept Running
    systemctl daemon-reload
    systemd-run --quiet --wait -p CPUWeight=50 -p MemoryMax=1G true
    assert_eq "cpu.max after systemd looked at its groups" "50000 100000" "$(container_file kept cpu.max)"
    assert_eq "memory.max then" $((64 << 20)) "$(container_file kept memory.max)"
    kubectl delete pod kept
}

cluster_up
check_files
check_reload
check_enforced
check_swept
assert_nothing_left
