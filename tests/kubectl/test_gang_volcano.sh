#!/bin/bash
# Gang scheduling by others: the operator as a process of its own beside an embedded cluster without one, with Volcano's PodGroups and
# with those of the scheduler-plugins. Both schedulers are stand-ins (tests/lib/gang.sh).
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
NAMESPACE=default
IMAGE=trainyard/tools
# shellcheck source=tests/lib/gang.sh
. "$ROOT/tests/lib/gang.sh"

cluster_up --nodes 1 --no-operator

echo "Volcano"
operator_start volcano
story_of_volcano
operator_stop

echo "the scheduler-plugins, by another name"
operator_start coscheduler
story_of_a_coscheduler "$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')"
