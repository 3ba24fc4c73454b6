# shellcheck shell=bash disable=SC2154 # up sources this file and sets them
# Starts the node's container runtime and imports the images that every pod needs. Part of `up`.

[ -e /dev/kmsg ] || die '/dev/kmsg is missing, and the kubelet needs it: give this container the device'
# If the file system does not support an overlay (as in a container), every container gets a copy of its image.
snapshotter=overlayfs
mkdir -p "$STATE"/probe/{lower,upper,work,merged}
node_run mount -t overlay overlay -o "lowerdir=$INSIDE/state/probe/lower,upperdir=$INSIDE/state/probe/upper,workdir=$INSIDE/state/probe/work" \
    "$INSIDE/state/probe/merged" 2>/dev/null && node_run umount "$INSIDE/state/probe/merged" || snapshotter=native

# Create the root group of the kubelet: with cgroups v1 in each hierarchy, with v2 in the only one. With v2 a group has only the
# controllers that its parent delegates.
groups=/sys/fs/cgroup
hierarchies=("$groups")
[ -e $groups/cgroup.controllers ] || hierarchies=("$groups"/*)
[ -e $groups/memory/cgroup.procs ] || grep -qsw memory $groups/cgroup.controllers ||
    die 'this machine has no control groups for memory: the kubelet needs them'
for controller in cpu cpuset memory hugetlb pids; do
    grep -qsw $controller $groups/cgroup.controllers || continue
    grep -qsw $controller $groups/cgroup.subtree_control && continue
    { echo "+$controller" >$groups/cgroup.subtree_control; } 2>/dev/null ||
        die "$groups does not delegate the controller '$controller', which the kubelet needs: move its processes into a child group"
    echo $controller >>"$MACHINE/controllers" # down disables it again
done
for hierarchy in "${hierarchies[@]}"; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    mkdir -p "$hierarchy/$CGROUP" 2>/dev/null || die "$hierarchy cannot be written: the kubelet needs control groups"
done

mkdir -p "$STATE/cni"
cat >"$STATE/cni/10-trainyard.conflist" <<EOF
{"cniVersion": "0.4.0", "name": "trainyard", "plugins": [
  {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "$INSIDE/state/addresses",
   "ranges": [[{"subnet": "$pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
EOF
# restrict_oom_score_adj: on some machines not even root may lower the oom_score_adj of a process.
cat >"$STATE/containerd.toml" <<EOF
version = 2
root = "$INSIDE/state/containerd"
state = "/run/containerd"
[grpc]
  address = "$INSIDE/state/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "trainyard/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$INSIDE/state/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$snapshotter"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
EOF
node_start containerd

# Images that are built here, without a registry: the sandbox program of a pod, and a shell with all programs of busybox.
images=$CACHE/images-$(cat "$HERE"/{pause.c,runtime.sh} "$HERE/../../tools/image" | sha256sum | cut -c1-12)
if [ ! -d "$images" ]; then
    rm -rf "$CACHE"/images-* "$CACHE/making"
    mkdir -p "$CACHE/making"
    gcc -O2 -static -o "$CACHE/making/pause" "$HERE/pause.c"
    "$HERE/../../tools/image" --name trainyard/pause:1 --output "$CACHE/making/images/pause.tar" "$CACHE/making/pause" >&2
    "$HERE/../../tools/image" --name trainyard/busybox:1 --output "$CACHE/making/images/busybox.tar" "$CACHE/root/bin/busybox=/usr/bin/sh" >&2
    mv "$CACHE/making/images" "$images"
    rm -rf "$CACHE/making"
fi
wait_for 'the container runtime answers' 30 node_ctr version
"$HERE/node" import "$images"/*.tar
