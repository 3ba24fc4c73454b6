# shellcheck shell=bash disable=SC2034 # build, up, down, node and run use them
# The paths and names of the real Kubernetes of the tests, and functions that run commands on its node. Sourced by the scripts of this
# directory.
#
# The cluster is one process tree in its own namespaces (mounts, network, processes): its ports, bridges, packet filter and mounts are
# separate from this machine's. All of it ends with the first process of the tree, however that process ends.

CACHE=${TRAINYARD_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/trainyard/kubernetes} # programs; kept across checkouts
STATE=$CACHE/state                                                                  # state of one cluster; down --wipe deletes it
INSIDE=/run/trainyard                                                               # the path of $CACHE on the node
MACHINE=/run/trainyard-kubernetes                                                   # pid of the tree's first process; one per machine
LINK=trainyard-kube                                                                 # this machine's end of the veth pair to the node
CGROUP=trainyard-kubernetes
NODE=node-a

die() {
    echo "kubernetes: $*" >&2
    exit 1
}

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# The start time is compared, too, because the pid alone may belong to another process by now.
node_is_up() {
    local pid since
    read -r pid since 2>/dev/null <"$MACHINE/node" || return
    [ -n "$since" ] && [ "$(started_at "$pid")" = "$since" ]
}

# Run a command on the node. The node has the files of this machine, except /run, /var/lib and /var/log.
node_run() { # COMMAND…
    local pid _
    node_is_up || die 'no cluster is up: start one with tests/kubernetes/up'
    read -r pid _ <"$MACHINE/node"
    nsenter -t "$pid" -m -n -p -u -i --root --wd=/ -- "$@"
}

# Start a program of the node with the command that `up` has written to a file.
node_start() { # NAME
    # shellcheck disable=SC2016 # the node's shell expands it
    node_run bash -c 'setsid "$1/command/$2" >>"$1/log/$2.log" 2>&1 </dev/null & echo $! >"$1/pid/$2"' - "$INSIDE/state" "$1" 9>&-
}

# Kill a program of the node, as in a crash, and wait until it is gone.
node_stop() { # NAME
    # shellcheck disable=SC2016
    node_run bash -c 'pid=$(cat "$1/pid/$2") && kill -9 "$pid" && until ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
        rm -f "$1/pid/$2"' - "$INSIDE/state" "$1"
}

node_ctr() { node_run "$INSIDE/root/usr/bin/ctr" -a "$INSIDE/state/containerd.sock" -n k8s.io "$@"; }
