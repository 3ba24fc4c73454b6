#!/bin/bash
# Limits in a scope that systemd delegates to an ordinary user.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

become_person
delegate_scope
cluster_up
check_files
check_enforced
cluster_wipe
assert_nothing_left
