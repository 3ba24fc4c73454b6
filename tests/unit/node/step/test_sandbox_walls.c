/* Tests the isolation of a sandbox from inside, one way out after the other: as the pod's root,
 * which is the machine's root or an ordinary user. */
#include "sandbox_pod.h"

#include "base/system/file.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Each line of the script prints BAD if the sandbox leaks. */
void files_of_the_machine_are_read_only_or_hidden(void **state)
{
    static const char script[] =
        "no() { if \"$@\" >/dev/null 2>&1; then echo \"BAD: $*\"; fi; }\n"
        "yes() { \"$@\" >/dev/null 2>&1 || echo \"BAD: not $*\"; }\n"
        "no touch /usr/x; no touch /home/x; no touch /etc/x; no touch /dev/x; no touch /bin/x\n"
        "no mv /usr /gone; no rmdir /home; no mv /proc /gone; no mknod /disk b 8 0\n"
        "no mount -o remount,rw /usr; no mount -o remount,bind,rw /usr; no mount -o remount,suid "
        "/\n"
        "no mount -t tmpfs none /mnt; no umount /etc; no umount /proc; no umount /usr\n"
        "no unshare -m true; no mknod /tmp/disk b 8 0; no chroot /proc/1/root touch /usr/x\n"
        "no sh -c 'echo 1 >/proc/sys/kernel/randomize_va_space'\n"
        "no sh -c 'echo b >/proc/sysrq-trigger'\n"
        "no unshare -Urm sh -c 'mount -o remount,bind,rw /usr && touch /usr/x'\n"
        "no unshare -Urm sh -c \"umount $STATE_DIR && ls $STATE_DIR | grep pods\"\n"
        "no readlink /proc/1/exe; no readlink /proc/1/fd/3; no ls /proc/1/root/\n"
        "no test -s /etc/shadow; no test -e /run/systemd; no test -e \"$STATE_DIR/pods\"\n"
        "no ip link add dummy0 type dummy; no ip addr add 10.244.9.9/16 dev eth0\n"
        "yes touch /tmp/x; yes touch /dev/shm/x; yes touch /run/x; yes touch /var/tmp/x\n"
        "yes touch /x; yes mkdir /new; yes rm /x\n"
        "yes sh -c 'echo >/dev/null'; yes head -c1 /dev/urandom; yes test -c /dev/tty\n"
        "yes test \"$(hostname)\" = hidden; yes grep -q hidden /etc/hosts\n"
        "yes grep -q 'nameserver 10.244.0.1' /etc/resolv.conf; yes test \"$(id -u)\" = 0\n"
        "yes test \"$(cat /proc/1/comm)\" = trainyard-init; yes test -d /proc/self/fd\n"
        "yes test \"$(ls -d /proc/[0-9]* | wc -l)\" -lt 10; yes test \"$(cat /etc/hostname)\" = "
        "hidden\n"
        "echo done\n";
    struct pod pod = pod_make("hidden", "10.244.1.1", script);
    pod_strings_add(pod.arena, &pod.main->environment,
                    arena_printf(pod.arena, "STATE_DIR=%s", state_dir));
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "done\n");
    pod_drop(&pod);
}

/* Ways out by system calls, in Python because it offers all of them. `no` prints BAD if a call
 * succeeds. The system call numbers are the same on both architectures, except for a few. */
static const char WAYS_OUT[] =
    "import ctypes, os, platform, socket, struct\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "x86 = platform.machine() == 'x86_64'\n"
    "def call(number, *args):\n"
    "    r = libc.syscall(ctypes.c_long(number), *[a if isinstance(a, (bytes, ctypes.Array)) or a "
    "is "
    "None else ctypes.c_long(a) for a in args])\n"
    "    if r < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n"
    "    return r\n"
    "def number(here, arm): return here if x86 else arm\n"
    "def no(what, f, *args):\n"
    "    pid = os.fork()\n" /* in a child, so that one way does not help the next */
    "    if pid == 0:\n"
    "        try: f(*args)\n"
    "        except Exception: os._exit(0)\n"
    "        os.write(1, ('BAD: ' + what + '\\n').encode()); os._exit(0)\n"
    "    os.waitpid(pid, 0)\n"
    "def write(path, text='1'):\n"
    "    with open(path, 'w') as f: f.write(text)\n"
    "NS, USER, NET, PID, CGROUP = 0x20000, 0x10000000, 0x40000000, 0x20000000, 0x2000000\n"
    "unshare = lambda flags: call(number(272, 97), flags)\n"
    "mount = lambda s, t, k, flags=0, data=None: call(number(165, 40), s, t, k, flags, data)\n"
    /* mounts and namespaces */
    "no('unshare mounts', unshare, NS)\n"
    "no('unshare user', unshare, USER)\n"
    "no('unshare network', unshare, NET)\n"
    "no('clone with namespaces', lambda: call(number(56, 220), USER | 17, None, None, None, "
    "None))\n"
    "no('clone3', lambda: call(435, bytes(64), 64))\n"
    "for kind in (b'proc', b'sysfs', b'tmpfs', b'cgroup', b'cgroup2', b'devtmpfs', b'debugfs', "
    "b'securityfs', b'mqueue'):\n"
    "    no('mount ' + kind.decode(), mount, b'none', b'/mnt', kind)\n"
    "no('remount /', mount, b'', b'/', b'', 0x20 | 0x1000)\n"
    "no('bind / elsewhere', mount, b'/', b'/mnt', b'', 0x1000)\n"
    "no('fsopen', call, 430, b'tmpfs', 0)\n"
    "no('open_tree clone', call, 428, -100, b'/usr', 1)\n"
    "no('mount_setattr', call, 442, -100, b'/usr', 0, struct.pack('QQQQ', 0, 1, 0, 0), 32)\n"
    "no('umount', call, number(166, 39), b'/etc', 2)\n"
    "no('pivot_root', call, number(155, 41), b'.', b'.')\n"
    "for ns in ('mnt', 'user', 'net', 'pid', 'ipc', 'uts'):\n"
    "    no('setns ' + ns, lambda: call(number(308, 268), os.open('/proc/self/ns/' + ns, 0), 0))\n"
    "    no('ns of PID 1 ' + ns, os.open, '/proc/1/ns/' + ns, 0)\n"
    "no('open_by_handle_at', call, number(304, 265), -100, struct.pack('Ii', 8, 1) + bytes(8), 0)\n"
    /* the first process, and the machine through it */
    "for name in ('mem', 'environ', 'root/', 'cwd/', 'exe', 'maps', 'fd/3', 'fdinfo/3', 'io', "
    "'auxv'):\n"
    "    no('/proc/1/' + name, lambda: (os.listdir if name.endswith('/') else lambda p: open(p, "
    "'rb').read(1) or 1/0)('/proc/1/' + name))\n"
    "no('ptrace', call, number(101, 117), 16, 1, 0, 0)\n"
    "no('seize', call, number(101, 117), 0x4206, 1, 0, 0)\n"
    "room = ctypes.create_string_buffer(8)\n"
    "no('process_vm_readv', call, number(310, 270), 1, struct.pack('QQ', ctypes.addressof(room), "
    "8), "
    "1, struct.pack('QQ', 0x400000, 8), 1, 0)\n"
    "no('pidfd_getfd', lambda: call(438, call(434, 1, 0), 3, 0))\n"
    "no('kcmp', call, number(312, 272), 1, os.getpid(), 0, 0, 0)\n"
    "no('oom_score_adj', write, '/proc/self/oom_score_adj', '-1000')\n"
    "no('killing PID 1', lambda: (os.kill(1, 9), 1 / 0 if os.path.exists('/proc/1') else 0))\n"
    "no('inherited descriptors', lambda: [f for f in os.listdir('/proc/self/fd') if int(f) > 3] or "
    "1 / 0)\n"
    /* settings of the kernel */
    "for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', "
    "'/proc/sys/kernel/hotplug', '/proc/sys/vm/drop_caches', '/proc/sys/fs/binfmt_misc/register', "
    "'/proc/sysrq-trigger', '/sys/kernel/uevent_helper', '/sys/power/state', "
    "'/sys/kernel/mm/ksm/run', '/sys/fs/cgroup/release_agent', '/sys/fs/cgroup/cgroup.procs', "
    "'/sys/fs/cgroup/memory/release_agent', '/sys/kernel/debug/x', '/proc/irq/0/smp_affinity', "
    "'/dev/kmsg', '/dev/mem'):\n"
    "    no('writing ' + path, write, path)\n"
    "no('reading /proc/kcore', lambda: open('/proc/kcore', 'rb').read(1) or 1 / 0)\n"
    "no('kernel log', call, number(103, 116), 3, bytes(64), 64)\n"
    "no('bpf', call, number(321, 280), 0, struct.pack('IIII', 1, 4, 4, 1) + bytes(112), 128)\n"
    "no('perf', call, number(298, 241), struct.pack('IIQ', 1, 112, 0) + bytes(96), 0, -1, -1, 0)\n"
    "no('userfaultfd', call, number(323, 282), 1)\n"
    "no('io_uring', call, 425, 1, bytes(120))\n"
    "for name, args in (('add_key', (number(248, 217), b'user', b'ty', b'x', 1, -3)), ('keyctl', "
    "(number(250, 219), 0, -3, 0)), ('user keyring', (number(250, 219), 0, -4, 0)), "
    "('request_key', "
    "(number(249, 218), b'user', b'ty', None, 0))):\n"
    "    no(name, call, *args)\n"
    "for name, args in (('reboot', (number(169, 142), 0x1fee1dead & 0xffffffff, 672274793, 0, 0)), "
    "('init_module', (number(175, 105), b'', 0, b'')), ('kexec', (number(246, 104), 0, 0, None, "
    "0)), "
    "('settimeofday', (number(164, 170), bytes(16), None)), ('swapon', (number(167, 224), "
    "b'/tmp/x', "
    "0)), ('acct', (number(163, 89), b'/tmp/x')), ('chroot out of a chroot', (number(161, 51), "
    "b'/proc/1/root'))):\n"
    "    no(name, call, *args)\n"
    /* files */
    "no('block device', os.mknod, '/tmp/disk', 0o60600, os.makedev(8, 0))\n"
    "no('character device', os.mknod, '/tmp/mem', 0o20600, os.makedev(1, 1))\n"
    "no('hard link to the machine', os.link, '/usr/bin/env', '/tmp/env')\n"
    "no('hard link into the volume', os.link, '/usr/bin/env', '/v/env')\n"
    "def chroot_walk():\n"
    "    os.mkdir('/tmp/jail'); out = os.open('/', 0); os.chroot('/tmp/jail'); os.fchdir(out)\n"
    "    for i in range(64): os.chdir('..')\n"
    "    os.chroot('.'); write('/usr/x')\n"
    "no('walk out of a chroot', chroot_walk)\n"
    "no('the message file as a link', os.symlink, '/etc/shadow', '/dev/termination-log')\n"
    "no('renaming the message file', os.rename, '/dev/termination-log', '/dev/elsewhere')\n"
    /* the machine's network */
    "def abstract():\n"
    "    s = socket.socket(socket.AF_UNIX); s.connect('\\0' + os.environ['ABSTRACT'])\n"
    "no('abstract socket of the machine', abstract)\n"
    "no('raw route', lambda: socket.if_nameindex()[1:] and [i for i in socket.if_nameindex() if "
    "i[1] "
    "not in ('lo', 'eth0')] or 1 / 0)\n"
    "print('tried')\n";

static int listen_abstract(const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, name, strlen(name));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 8) == 0);
    return fd;
}

void system_calls_cannot_escape_the_sandbox(void **state)
{
    struct pod pod = pod_make("ways", "10.244.1.1", "");
    char *volume = arena_printf(pod.arena, "%s/ways", scratch);
    char *name = arena_printf(pod.arena, "trainyard-test-%d", (int)getpid());
    int fd = listen_abstract(name);
    file_make_dirs(volume, 0777, NULL);
    pod.main->arguments = (struct pod_strings){0};
    const char *const words[] = {"/usr/bin/python3", "-c", WAYS_OUT};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod.arena, &pod.main->arguments, words[i]);
    pod_strings_add(pod.arena, &pod.main->environment,
                    arena_printf(pod.arena, "ABSTRACT=%s", name));
    pod_container_add_mount(pod.arena, pod.main, "/v", volume);
    pod_container_add_mount(pod.arena, pod.main, "/dev/termination-log",
                            arena_printf(pod.arena, "%s/messages/main", pod.directory));
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "tried\n");
    pod_drop(&pod);
    close(fd);
}

/* No file gives its user other privileges or opens a device: neither in the machine's directories,
 * nor in volumes and mounts below them, nor in memory. Mounts that are themselves a device (those
 * of /dev, and /dev/null over hidden files) and the terminals cannot have such files. */
void mounts_forbid_setuid_files_and_devices(void **state)
{
    static const char script[] =
        "while read -r id parent device root place options rest; do\n"
        "    if [ -c \"$place\" ] || [ \"$place\" = /dev/pts ]; then continue; fi\n"
        "    case ,$options, in *,nosuid,*) ;; *) echo \"$place: $options\" ;; esac\n"
        "    case ,$options, in *,nodev,*) ;; *) echo \"$place: $options\" ;; esac\n"
        "    seen=\"$seen $place \"\n"
        "done </proc/self/mountinfo\n"
        "for place in / /usr /etc /tmp /run /dev /dev/shm /proc /v /v/below /closed /m; do\n"
        "    case $seen in *\" $place \"*) ;; *) echo \"$place is no mount\" ;; esac\n"
        "done; echo tried\n";
    struct pod pod = pod_make("power", "10.244.1.1", script);
    char *volume = arena_printf(pod.arena, "%s/volume", pod.directory);
    char *memory = arena_printf(pod.arena, "%s/memory", pod.directory);
    char *below = arena_printf(pod.arena, "%s/below", volume);
    file_make_dirs(below, 0777, NULL);
    file_make_dirs(memory, 0777, NULL);
    pod_spec_add_memory(pod.arena, &pod.spec, memory);
    pod_spec_add_memory(pod.arena, &pod.spec, below);
    pod_container_add_mount(pod.arena, pod.main, "/v", volume);
    pod_container_add_mount(pod.arena, pod.main, "/closed", volume)->read_only = true;
    pod_container_add_mount(pod.arena, pod.main, "/m", memory);
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "tried\n");
    pod_drop(&pod);
}
