#!/bin/bash
# An ordinary user without a delegated control group: an event reports it, and limits that need no control group are enforced.
# shellcheck source=tests/machine/limits.sh
. "$(dirname "$0")/limits.sh"

become_person
check_told
cluster_wipe
assert_nothing_left
