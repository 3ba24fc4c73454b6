#!/usr/bin/env python3
"""Write an image as `docker save` or `skopeo copy … oci-archive:` would, for tests.

    make_image.py docker|oci FILE NAME ROOT [plain|gzip|zstd]

The image has three layers: the first holds the directory ROOT and a few files; the second adds files, links and a whiteout; the third hides
the old content of a directory (opaque whiteout). The entrypoint is a shell, and the user is called app.
"""
import gzip
import hashlib
import io
import json
import platform
import subprocess
import sys
import tarfile

KIND, FILE, NAME, ROOT = sys.argv[1:5]
PACKING = sys.argv[5] if len(sys.argv) > 5 else "gzip"
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
LONG = "/".join(["opt"] + ["a-directory-with-a-long-name-%d" % i for i in range(8)])


def layer(*entries, root=None):
    """Entries are (path, content, mode, owner): bytes are a file, None a directory, "@x" a link, "=x" a hard link."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        if root:
            tar.add(root, ".")
        for path, content, mode, owner in entries:
            info = tarfile.TarInfo(path)
            info.mode, info.uid, info.gid, info.mtime = mode, owner, owner, 1000000000
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type = tarfile.SYMTYPE if content[0] == "@" else tarfile.LNKTYPE
                info.linkname = content[1:]
            else:
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return data.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def pack(data):
    if PACKING == "gzip":
        return gzip.compress(data, mtime=0)
    if PACKING == "zstd":
        return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


layers = [
    layer(
        ("etc", None, 0o755, 0),
        ("etc/setuid", b"", 0o4755, 0),
        ("etc/passwd", b"root:x:0:0::/root:/bin/sh\napp:x:1234:567::/home/app:/bin/sh\n", 0o644, 0),
        ("etc/resolv.conf", "@../run/somewhere", 0o777, 0),
        ("home/app", None, 0o755, 1234),
        ("link", "@usr/elsewhere", 0o777, 0),
        ("usr/elsewhere", None, 0o755, 0),
        ("data/gone", b"gone", 0o644, 0),
        ("data/kept", b"kept", 0o644, 0),
        ("hidden/old", b"old", 0o644, 0),
        ("closed", None, 0o555, 0),
        ("closed/file", b"closed", 0o444, 0),
        (LONG + "/file", b"long", 0o644, 0),
        root=ROOT,
    ),
    layer(
        ("data/.wh.gone", b"", 0o644, 0),
        ("data/hard", "=data/kept", 0o644, 0),
        ("link/through", b"through", 0o644, 0),  # through a symbolic link, as on machines where /lib is a link
    ),
    layer(
        ("hidden/new", b"new", 0o644, 0),
        ("hidden/.wh..wh..opq", b"", 0o644, 0),
    ),
]
config = json.dumps({
    "architecture": MACHINE,
    "os": "linux",
    "config": {
        "Entrypoint": ["sh", "-c"],
        "Cmd": ["echo default $FROM_IMAGE $(id -u) $(id -g) $PWD $HOME"],
        "Env": ["PATH=/usr/bin:/bin", "FROM_IMAGE=yes"],
        "WorkingDir": "/srv/here",
        "User": "app",
        "StopSignal": "SIGQUIT",
        "ExposedPorts": {"80/tcp": {}},
    },
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(data) for data in layers]},
}).encode()


members = {}
if KIND == "docker":
    members[digest(config) + ".json"] = config
    names = []
    for data in layers:
        names.append(digest(data) + "/layer.tar")
        members[names[-1]] = data
    members["manifest.json"] = json.dumps([{"Config": digest(config) + ".json", "RepoTags": [NAME], "Layers": names}]).encode()
else:
    def blob(data, kind):
        members["blobs/sha256/" + digest(data)] = data
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest(data), "size": len(data)}

    manifest = blob(json.dumps({
        "schemaVersion": 2,
        "config": blob(config, "config.v1+json"),
        "layers": [blob(pack(data), "layer.v1.tar+" + PACKING) for data in layers],
    }).encode(), "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": NAME}
    members["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
    members["oci-layout"] = b'{"imageLayoutVersion":"1.0.0"}'

with tarfile.open(FILE, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, data in members.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
