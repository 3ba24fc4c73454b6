#!/bin/bash
# Resource limits hold, and only for the containers that set them: memory (OOMKilled, then restarted by the restart policy), processes (a
# fork bomb), CPU (measured by the kernel's throttling counters, not by time). `kubectl top` shows the usage. As root, as an ordinary user
# with delegated control groups, and as an ordinary user without them. In the last case an event says that limits are not enforced.
# Alone: uses memory up to its limit and as many processes as allowed.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"
# shellcheck source=tests/lib/limits.sh
. "$(dirname "$0")/../lib/limits.sh"

DELEGATED=()
clean_up() {
    local group
    [ ${#DELEGATED[@]} -gt 0 ] || return 0
    [ $CLUSTER_UP = no ] || cluster_wipe
    for group in "${DELEGATED[@]}"; do wait_until "our processes to leave '$group'" rmdir "$group"; done
}

# Create control groups that belong to the ordinary user, as an administrator or systemd delegates them. All further commands start in them.
delegate() {
    local type mount options own group
    while read -r _ mount type options _; do
        case $type,$options, in
            cgroup2,*) own=$(sed -n 's/^0:://p' /proc/self/cgroup) ;;
            cgroup,*,cpu,* | cgroup,*,cpuacct,* | cgroup,*,memory,* | cgroup,*,pids,*)
                own=$(awk -F: -v o="$options" '$2 != "" { n = split($2, c, ","); for (i = 1; i <= n; i++) if (index("," o ",", "," c[i] ",")) { print $3; exit } }' /proc/self/cgroup)
                ;;
            *) continue ;;
        esac
        group=$mount${own%/}/delegated-$$
        mkdir "$group"
        chown 65534 "$group" "$group/cgroup.procs"
        [ ! -e "$group/cgroup.subtree_control" ] || chown 65534 "$group/cgroup.subtree_control"
        DELEGATED+=("$group")
    done </proc/mounts
    # shellcheck disable=SC2016 # the inner shell expands it
    AS_USER=(sh -c 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1/cgroup.procs"; shift; n=$((n - 1)); done; exec "$@"' -
        "${#DELEGATED[@]}" "${DELEGATED[@]}" "${AS_USER[@]}")
}

HOME=$USER_HOME "$ROOT/tools/get-kubectl" >"$SCRATCH/versions" 2>/dev/null || true
[ -s "$SCRATCH/versions" ] || echo "any $KUBECTL" >"$SCRATCH/versions"
check_enforced
check_top "$SCRATCH/versions"
check_swept
become_ordinary_user
check_told
check_top <(sed 1q "$SCRATCH/versions")
cluster_wipe
delegate
check_enforced
check_swept
