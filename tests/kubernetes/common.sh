# shellcheck shell=bash disable=SC2034 # build, up, down, node and run use them
# Where the real Kubernetes of the tests keeps what, and how to reach into its node; for the scripts of this directory.
#
# The cluster is one process tree in namespaces of its own (mounts, network, processes): its ports, bridges, packet filter
# and mounts are not this machine's, and all of it ends with the tree's first process, however that one ends.

CACHE=${TRAINYARD_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/trainyard/kubernetes} # programs; outlives checkouts
STATE=$CACHE/state                                                                  # of one cluster; down --wipe forgets it
INSIDE=/run/trainyard                                                               # where the node sees $CACHE
MACHINE=/run/trainyard-kubernetes                                                   # one at a time on a machine: the tree's pid
LINK=trainyard-kube                                                                 # this machine's end of the wire to the node
CGROUP=trainyard-kubernetes
NODE=node-a

die() {
    echo "kubernetes: $*" >&2
    exit 1
}

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# A pid alone may be another process's by now.
node_is_up() {
    local pid since
    read -r pid since 2>/dev/null <"$MACHINE/node" || return
    [ -n "$since" ] && [ "$(started_at "$pid")" = "$since" ]
}

# Run a command on the node; its files are this machine's, but for /run, /var/lib and /var/log.
node_run() { # COMMAND…
    local pid _
    node_is_up || die 'no cluster is up: start one with tests/kubernetes/up'
    read -r pid _ <"$MACHINE/node"
    nsenter -t "$pid" -m -n -p -u -i --root --wd=/ -- "$@"
}

# A program of the node, by the command that `up` wrote down for it.
node_start() { # NAME
    # shellcheck disable=SC2016 # the node's shell expands it
    node_run bash -c 'setsid "$1/command/$2" >>"$1/log/$2.log" 2>&1 </dev/null & echo $! >"$1/pid/$2"' - "$INSIDE/state" "$1" 9>&-
}

# Killed, as a crash would; waits until it is gone.
node_stop() { # NAME
    # shellcheck disable=SC2016
    node_run bash -c 'pid=$(cat "$1/pid/$2") && kill -9 "$pid" && until ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
        rm -f "$1/pid/$2"' - "$INSIDE/state" "$1"
}

node_ctr() { node_run "$INSIDE/root/usr/bin/ctr" -a "$INSIDE/state/containerd.sock" -n k8s.io "$@"; }
