#!/bin/bash
# An ordinary user without a control group of its own: told so, and what can be limited without is.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

become_person
check_told
cluster_wipe
assert_nothing_left
