#!/bin/bash
# `make image` and `make image-trainer` write valid OCI images. The bytes are the same for every build. The program runs in the image
# as an unprivileged user on a read-only root.
# Long: 80 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

VERSION=$("$TRAINYARD" --version | cut -d ' ' -f 2)
NAME=trainyard/operator:$VERSION
IMAGE=$SCRATCH/image.tar
AIM=15000000 # maximum size of the compressed layer in bytes

make_image() { # FILE [DIRECTORY-FOR-SCRATCH]
    TMPDIR=${2:-$SCRATCH} "$ROOT/tools/image" --name "$NAME" --output "$1" --cmd operator "$TRAINYARD"
}
echo "--- $(make_image "$IMAGE")"

# --- the same bytes with another directory, umask and time zone
(
    mkdir -p "$SCRATCH/elsewhere"
    umask 077
    TZ=Asia/Tokyo make_image "$SCRATCH/again.tar" "$SCRATCH/elsewhere" >/dev/null
)
cmp "$IMAGE" "$SCRATCH/again.tar" || fail "two builds differ"

# --- the layout: the name of every blob is its digest, and every descriptor refers to a blob
mkdir "$SCRATCH/layout"
tar xf "$IMAGE" -C "$SCRATCH/layout"
cd "$SCRATCH/layout"
assert_eq "oci-layout" 1.0.0 "$(jq -r .imageLayoutVersion oci-layout)"
for blob in blobs/sha256/*; do
    assert_eq "digest of a blob" "${blob##*/}" "$(sha256sum "$blob" | cut -d ' ' -f 1)"
done
check_descriptor() { # FILE JQ-PATH: prints the path of the blob
    local digest size
    digest=$(jq -r "$2.digest" "$1")
    size=$(jq -r "$2.size" "$1")
    assert_eq "size in $1 at $2" "$size" "$(stat -c %s "blobs/sha256/${digest#sha256:}")"
    echo "blobs/sha256/${digest#sha256:}"
}
manifest=$(check_descriptor index.json '.manifests[0]')
config=$(check_descriptor "$manifest" .config)
layer=$(check_descriptor "$manifest" '.layers[0]')
assert_eq "the image's name" "$NAME" "$(jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]' index.json)"
assert_eq "the image's name in containerd" "docker.io/$NAME" "$(jq -r '.manifests[0].annotations["io.containerd.image.name"]' index.json)"
assert_eq "the digest of the uncompressed layer" "sha256:$(gzip -dc "$layer" | sha256sum | cut -d ' ' -f 1)" \
    "$(jq -r '.rootfs.diff_ids[0]' "$config")"
assert_eq "user, entrypoint, command" '65532:65532 ["/usr/bin/trainyard"] ["operator"]' \
    "$(jq -r '.config | "\(.User) \(.Entrypoint) \(.Cmd)"' "$config")"
assert_eq "manifest.json for Docker" "$config $NAME $layer" "$(jq -r '.[0] | "\(.Config) \(.RepoTags[0]) \(.Layers[0])"' manifest.json)"
[ "$(stat -c %s "$layer")" -lt $AIM ] || fail "the layer has $(stat -c %s "$layer") bytes, more than $AIM"

# --- the root: no shell, no set-id program, and all files belong to root
gzip -dc "$layer" | tar tv >"$SCRATCH/files"
! grep -E '(^.{3}s|^.{6}s|/sh$|/bash$)' "$SCRATCH/files" || fail "the image has a shell or a set-id program"
! grep -vE '^[-dl][rwxt-]{9} +0/0 ' "$SCRATCH/files" || fail "a file of the image does not belong to root"
assert_eq "the files in /etc" "etc/group etc/nsswitch.conf etc/passwd" \
    "$(awk '$NF ~ /^etc\/./ {print $NF}' "$SCRATCH/files" | paste -sd ' ')"

# --- wrong arguments are rejected with an error message
refused() { # WHAT PART ARGUMENT…
    local what=$1 part=$2 output
    shift 2
    output=$("$ROOT/tools/image" "$@" 2>&1) && fail "accepted: $what"
    assert_contains "$what" "$part" "$output"
}
refused "a name without a tag" "has no tag" --name a/b --output "$SCRATCH/x.tar" "$TRAINYARD"
refused "a missing program" "there is no program" --name a:1 --output "$SCRATCH/x.tar" "$SCRATCH/none"
refused "a word with a quote" "only letters" --name a:1 --output "$SCRATCH/x.tar" --cmd 'a"b' "$TRAINYARD"
refused "no program" usage --name a:1 --output "$SCRATCH/x.tar"
refused "a missing file" "there is no file" --name a:1 --output "$SCRATCH/x.tar" --data "$SCRATCH/none" "$TRAINYARD"
refused "a relative path of a file" "does not start with /" --name a:1 --output "$SCRATCH/x.tar" --data Makefile "$TRAINYARD"
[ ! -e "$SCRATCH/x.tar" ] || fail "a rejected image was written"

# --- several programs, one of them statically linked and at another path
"$ROOT/tools/image" --name localhost/both:1 --output "$SCRATCH/both.tar" "$BUILD/trainyard-step=/opt/step" "$TRAINYARD" >/dev/null
both=$(tar xOf "$SCRATCH/both.tar" index.json)
assert_eq "a name with a host" localhost/both:1 "$(jq -r '.manifests[0].annotations["io.containerd.image.name"]' <<<"$both")"
inner=$(tar xOf "$SCRATCH/both.tar" manifest.json | jq -r '.[0].Layers[0]')
tar xOf "$SCRATCH/both.tar" "$inner" | tar tz >"$SCRATCH/files"
grep -qx opt/step "$SCRATCH/files" || fail "no program at the path /opt/step"
grep -qx usr/bin/trainyard "$SCRATCH/files" || fail "no second program"

# --- the trainer's image: it contains the program and, if installed here, the cascade files for face detection, but no data set
make -s -C "$ROOT" BUILD="$BUILD" image-trainer
TRAINER_NAME=trainyard/trainer:$("$TRAINER" --version | cut -d ' ' -f 2)
tar xOf "$BUILD/trainer-image.tar" manifest.json >"$SCRATCH/trainer.json"
assert_eq "the trainer's name" "$TRAINER_NAME" "$(jq -r '.[0].RepoTags[0]' "$SCRATCH/trainer.json")"
trainer_config=$(tar xOf "$BUILD/trainer-image.tar" "$(jq -r '.[0].Config' "$SCRATCH/trainer.json")")
assert_eq "the trainer's user, entrypoint, command" '65532:65532 ["/usr/bin/trainer"] []' \
    "$(jq -r '.config | "\(.User) \(.Entrypoint) \(.Cmd)"' <<<"$trainer_config")"
mkdir "$SCRATCH/trainer"
tar xOf "$BUILD/trainer-image.tar" "$(jq -r '.[0].Layers[0]' "$SCRATCH/trainer.json")" | tar xz -C "$SCRATCH/trainer"
for cascade in frontalface_alt2 eye; do
    file=/usr/share/opencv4/haarcascades/haarcascade_$cascade.xml
    [ ! -e $file ] || cmp $file "$SCRATCH/trainer$file" || fail "the image has another $file"
done
find "$SCRATCH/trainer" -name libopenblas.so.0 | finds . || fail "the image lacks libopenblas, which the trainer loads at run time"
[ ! -e "$SCRATCH/trainer/usr/share/datasets" ] || fail "the image contains a data set"

# --- both images run
if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
    echo "the images are not run: that needs root and a mount namespace"
    exit 0
fi
mkdir "$SCRATCH/root"
tar xzf "$layer" -C "$SCRATCH/root"
chmod 755 "$SCRATCH"
mkdir -m 777 "$SCRATCH/volume" # both images see it as /tmp
# shellcheck disable=SC2016 # the inner shell's
inside=(unshare --mount -- sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount --bind "$0" "$1/tmp" &&
    root=$1 && shift && exec chroot --userspec=65532:65532 "$root" "$@"' "$SCRATCH/volume")
in_image=("${inside[@]}" "$SCRATCH/root")
assert_eq "the operator's version" "trainyard $VERSION" "$("${in_image[@]}" /usr/bin/trainyard --version)"
assert_contains "the operator's help" --leader-elect "$("${in_image[@]}" /usr/bin/trainyard operator --help)"

assert_eq "the trainer's version" "trainer ${TRAINER_NAME#*:}" "$("${inside[@]}" "$SCRATCH/trainer" /usr/bin/trainer --version)"
"${inside[@]}" "$SCRATCH/trainer" /usr/bin/trainer fit face --data=procedural --persons=8 --held-out=2 --pictures=4 --batch-persons=4 \
    --steps=2 --model-dir=/tmp/model --log=plain | tee "$SCRATCH/said"
! grep -q 'without OpenBLAS' "$SCRATCH/said" || fail "the trainer in its image cannot load OpenBLAS"
[ -s "$SCRATCH/volume/model/face.model" ] || fail "the trainer in its image wrote no model"

# --- the operator works in its image: it connects to a cluster, acquires the lease and runs a job
cluster_up --no-operator
install -m 644 "$KUBECONFIG" "$SCRATCH/root/etc/kubeconfig"
"${in_image[@]}" /usr/bin/trainyard operator --kubeconfig /etc/kubeconfig --leader-elect --leader-election-namespace default \
    --metrics-bind-address 0 --health-probe-bind-address 0 >"$SCRATCH/operator.log" 2>&1 &
operator=$!
clean_up() { # EXIT-CODE
    kill $operator 2>/dev/null
    [ "$1" = 0 ] || cat "$SCRATCH/operator.log"
}
kubectl apply -f - <<'YAML'
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tiny}
spec:
  tfReplicaSpecs:
    Worker: {template: {spec: {containers: [{name: tensorflow, image: trainyard/tools, command: ["true"]}]}}}
YAML
succeeded() { is_alive $operator && tfjob_has_condition tiny Succeeded; }
wait_until "a job to succeed" succeeded
[ -n "$(kubectl get lease trainyard-operator -o jsonpath='{.spec.holderIdentity}')" ] || fail "no operator holds the lease"
kill $operator
wait $operator || fail "the operator ended with $?"
assert_eq "holder of the lease after the operator ended" '' "$(kubectl get lease trainyard-operator -o jsonpath='{.spec.holderIdentity}')"
cluster_wipe
