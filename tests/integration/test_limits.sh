#!/bin/bash
# Limits hold, and only for whom they are meant: memory (OOMKilled, restarted by policy), processes (a fork bomb), processor (counted by
# the kernel's throttling, not by time), and kubectl top shows what is used. As root, as an ordinary user with control groups of its own, and as one without, who is told.
# Alone: memory up to its limit, and every process it may have.
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

# Groups of its own for the ordinary user, as an administrator or systemd delegates them; everything of ours starts in them.
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
