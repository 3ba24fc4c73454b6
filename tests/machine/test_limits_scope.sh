#!/bin/bash
# Limits in a scope that systemd delegates to an ordinary user. After the server is killed, the next `up` runs in another scope.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

become_person
delegate_scope
add_told # check_enforced starts this pod, too
check_enforced
check_files
check_swept
assert_nothing_left
