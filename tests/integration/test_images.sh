#!/bin/bash
# Saved images can be imported, run with their own root file system, and removed; as root and as an ordinary user. The test writes the
# images itself, in both formats (docker save and OCI), with layers that delete files of lower layers.
# Long: 88 s.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

# --- a root file system with a shell and a few programs
IMAGE_ROOT=$SCRATCH/image-root
mkdir "$IMAGE_ROOT"
for program in sh cat ls touch id sleep; do
    path=$(type -P $program)
    # shellcheck disable=SC2046 # a word each
    (cd "$IMAGE_ROOT" && cp -L --parents "$path" $(ldd "$path" | grep -o '/[^ ]*') .)
done
PACKINGS="plain gzip"
if type -P zstd >/dev/null; then PACKINGS="$PACKINGS zstd"; else echo "not tested: zstd compression, which needs the package zstd"; fi
make_image() { python3 "$ROOT/tests/lib/make_image.py" "$@"; }
make_image docker "$SCRATCH/docker.tar" test/docker:1 "$IMAGE_ROOT"
for packing in $PACKINGS; do make_image oci "$SCRATCH/$packing.tar" "docker.io/library/$packing" "$IMAGE_ROOT" "$packing"; done
"$ROOT/tools/image" --name test/operator:1 --output "$SCRATCH/operator.tar" --cmd --version "$TRAINYARD" >/dev/null
chmod 644 "$SCRATCH"/*.tar

PROGRAMS=$(mktemp -d /tmp/trainyard-programs.XXXXXX) # a pod has another /tmp
clean_up() { rm -rf "$PROGRAMS"; }

image() { as_user "$TRAINYARD" image "$@"; }
field() { kubectl get pod "$1" -o jsonpath="{$2}"; }
waits_for() { [ "$(field "$1" .status.containerStatuses[0].state.waiting.reason)" = "$2" ]; }
image_files() { find "$TRAINYARD_STATE/images" -mindepth 1 -maxdepth 1 ! -name lock | wc -l; }
pod() { # NAME IMAGE SCRIPT [MORE-OF-THE-CONTAINER [MORE-OF-THE-SPEC]]
    kubectl apply -f - <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
${5:-}
  containers:
  - name: main
    image: $2
    args: ['$3']
${4:-}
YAML
}
says() { # POD OUTPUT
    wait_until "pod $1 to end" pod_ended "$1"
    assert_eq "the output of pod $1" "$2" "$(kubectl logs "$1")"
}
pod_ended() { pod_phase_is "$1" Succeeded || pod_phase_is "$1" Failed; }

check() {
    cluster_up

    # A pod that waits for its image starts when the image has been imported. It runs the command of the image as the user of the image.
    kubectl run waits --image=test/docker:1 --restart=Never
    wait_until "the unknown image to be rejected" waits_for waits ErrImageNeverPull
    assert_contains "the advice" "trainyard image import FILE.tar" "$(field waits .status.containerStatuses[0].state.waiting.message)"
    assert_contains "the import" "image test/docker:1 imported" "$(image import "$SCRATCH/docker.tar")"
    says waits "default yes 1234 567 /srv/here /home/app"
    local id
    id=$(image list -o json | jq -r '.[] | select(.name == "test/docker:1").digest')
    assert_eq "the pod's imageID" "$id" "$(field waits .status.containerStatuses[0].imageID)"
    assert_contains "the list" "test/docker:1 " "$(image list)"

    # The same image in other formats and compressions is stored once and has several names.
    for packing in $PACKINGS; do image import "$SCRATCH/$packing.tar"; done
    gzip -c "$SCRATCH/docker.tar" | image import - piped:2
    assert_eq "digests" "$id" "$(image list -o json | jq -r '.[].digest' | sort -u)"
    assert_eq "stored images" 1 "$(image_files)"

    # A pod sees the merged layers of its image, and no file of the machine.
    # shellcheck disable=SC2016 # the pod's shell expands it
    pod layers gzip 'cd /; cat data/kept data/hard hidden/new link/through opt/*/*/*/*/*/*/*/*/file closed/file; ls data; ls hidden;
        for x in /home/* /root /boot /usr/bin/python3 /usr/share "$STATE"; do [ "$x" = /home/app ] || [ ! -e "$x" ] || echo "BAD: $x"; done;
        [ ! -u /etc/setuid ] || echo "BAD: setuid";
        touch /data/x 2>/dev/null; cat /volume/word /etc/hostname; cat /etc/resolv.conf >/dev/null || echo BAD' \
        "    env: [{name: STATE, value: $TRAINYARD_STATE}]
    volumeMounts: [{name: v, mountPath: /volume}]" \
        '  volumes: [{name: v, configMap: {name: words}}]'
    kubectl create configmap words --from-literal=word=word
    says layers "keptkeptnewthroughlongclosedhard
kept
new
wordlayers"

    # A container can write to its root unless readOnlyRootFilesystem is set. The image does not change.
    local writes='touch /tmp/x 2>/dev/null && echo yes || echo no'
    pod writes gzip "$writes" '    securityContext: {runAsUser: 0}'
    says writes yes
    pod closed gzip "$writes" '    securityContext: {runAsUser: 0, readOnlyRootFilesystem: true}'
    says closed no
    [ ! -e "$TRAINYARD_STATE/images/${id#sha256:}/rootfs/tmp/x" ] || fail "a pod wrote into its image"

    # `kubectl exec` runs as the user of the image and sees the image's files and those that the container wrote. If the image lacks a
    # program, the error message says so.
    # shellcheck disable=SC2016
    pod entered gzip 'echo own >/home/app/own; sleep 1000'
    wait_until "pod entered to run" pod_phase_is entered Running
    wait_until "the file that the container writes" kubectl exec entered -- sh -c '[ -s /home/app/own ]'
    # shellcheck disable=SC2016
    assert_eq "a command in an image" "keptown 1234 567 /srv/here entered" \
        "$(kubectl exec entered -- sh -c 'echo $(cat /data/kept /home/app/own) $(id -u) $(id -g) $PWD $(cat /etc/hostname)')"
    assert_eq "input of a command in an image" word "$(echo word | kubectl exec -i entered -- cat)"
    assert_contains "a program that the image lacks" "cannot run 'python3': executable file not found in \$PATH (/" \
        "$(kubectl exec entered -- python3 2>&1 || true)"
    if kubectl exec entered -- ls "$TRAINYARD_STATE" /root 2>/dev/null; then fail "a command in an image sees files of the machine"; fi
    kubectl delete pod entered --wait=false

    # An image can be a directory that serves as the root.
    assert_contains "an image of a directory" "uses the root directory" "$(image add rooted --rootfs "$IMAGE_ROOT" --env WORD=here --workdir /usr)"
    # shellcheck disable=SC2016
    pod rooted rooted:any 'x' '    command: [sh, -c, "echo $WORD $PWD; touch /written; ls -d /usr /written"]'
    says rooted "here /usr
/usr
/written"
    [ ! -e "$IMAGE_ROOT/written" ] || fail "a pod wrote into the directory that is its image"
    ! "$TRAINYARD" image add ../../x:1 -- /bin/true 2>"$SCRATCH/said" || fail "a path was accepted as the name of an image"
    assert_contains "an invalid name" "'../../x:1' is not a valid image name: it must have the form [HOST[:PORT]/]PATH[:TAG][@DIGEST]" "$(cat "$SCRATCH/said")"

    # A program and a script below the machine's /tmp are mounted into the pod. Other files of /tmp are not.
    mkdir -p "$PROGRAMS/lib"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec sh "$(dirname "$0")/lib/words.sh" "$@"\n' >"$PROGRAMS/program"
    # shellcheck disable=SC2016
    echo 'echo "$@"; touch "$0" 2>/dev/null || echo read-only; ls /tmp' >"$PROGRAMS/lib/words.sh"
    chmod -R a+rX "$PROGRAMS" && chmod 755 "$PROGRAMS/program"
    assert_eq "a program below /tmp" "image below-tmp runs $PROGRAMS/program" "$(image add below-tmp -- "$PROGRAMS/program" from 2>&1)"
    pod below-tmp below-tmp here
    says below-tmp "from here
read-only
$(basename "$PROGRAMS")"
    pod script any 'x' "    command: [sh, $PROGRAMS/lib/words.sh, given]"
    says script "given x
read-only
$(basename "$PROGRAMS")"
    assert_contains "a file that pods do not see" "pods have a '/tmp' of their own" "$(image add mine -- cat "$PROGRAMS/lib" 2>&1)"
    assert_contains "a missing program, given as a path" "'/tmp/mine' does not exist" "$(image add mine -- /tmp/mine 2>&1)"
    assert_contains "a missing program, given as a name" "there is no program 'nosuchprogram'" "$(image add mine -- nosuchprogram 2>&1)"

    # The image that tools/image makes can be imported too.
    image import "$SCRATCH/operator.tar"
    kubectl run operator --image=test/operator:1 --restart=Never
    says operator "$("$TRAINYARD" --version)"

    # An import is killed. The test checks below that `image remove` deletes its files.
    mkfifo "$SCRATCH/fifo"
    "${AS_USER[@]}" "$TRAINYARD" image import - killed <"$SCRATCH/fifo" &
    local killed=$!
    exec 7>"$SCRATCH/fifo"
    has_begun() { ls "$TRAINYARD_STATE"/images/import.*; }
    wait_until "the import to begin" has_begun
    kill -9 $killed
    wait $killed 2>/dev/null || true
    has_begun >/dev/null || fail "a killed import left nothing to remove"
    exec 7>&-
    rm "$SCRATCH/fifo"

    # The node's status lists one image with all its names and its size.
    node_tells() { kubectl get nodes -o json | jq -e --arg size "$(image list -o json | jq '.[] | select(.name == "test/docker:1").size')" \
        '.items[0].status.images[] | select(.names | contains(["test/docker:1", "plain:latest"])) | .sizeBytes == ($size | tonumber)'; }
    wait_until "the node's status to list its images" node_tells

    # An image cannot be removed while a pod uses it.
    pod uses piped:2 'sleep 100000'
    wait_for_phase uses Running
    wait_until "pod entered to be deleted" is_gone pod entered
    for name in test/docker:1 $PACKINGS test/operator:1; do image remove "$name"; done
    ! has_begun 2>/dev/null || fail "the files of a killed import still exist"
    ! image remove piped:2 2>"$SCRATCH/said" || fail "an image in use was removed"
    assert_contains "the pod that uses the image" "in use by pod 'uses'" "$(cat "$SCRATCH/said")"
    kubectl delete pod uses --wait=true
    wait_until "the removal of the image after its pod was deleted" image remove piped:2
    assert_eq "stored images after the removal" 0 "$(image_files)"
    image import "$SCRATCH/docker.tar"
    cluster_wipe
    [ ! -e "$TRAINYARD_STATE" ] || fail "down --wipe left something: $(find "$TRAINYARD_STATE")"
}

check
become_ordinary_user
check
