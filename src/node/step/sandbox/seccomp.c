/* Installs the seccomp filter of a sandbox, after all other privileges are dropped. The filter
 * refuses the system calls that container runtimes refuse by default, because containers do not
 * need these calls, and the calls have had security holes. Most of these calls need privileges
 * anyway. Without the filter a container could use the key ring of the machine's user (keyctl), new
 * user namespaces, the kernel's log, io_uring, userfaultfd, and BPF if the machine allows it to
 * every user.
 *
 * The kernel caches the numbers of calls that are always allowed, so a long table does not slow
 * these calls down. */
#include "node/step/step.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the table of system calls was checked for x86-64 and arm64 only"
#endif

enum {
    NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                 CLONE_NEWUTS | CLONE_NEWCGROUP,
    X32_BIT = 0x40000000, /* marks the numbers of the x32 interface */
};

/* The system calls that the filter refuses with EPERM. */
static const int DENIED[] = {
    /* the key ring of the machine's user */
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    /* the kernel itself */
    SYS_bpf,
    SYS_delete_module,
    SYS_finit_module,
    SYS_init_module,
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_perf_event_open,
    SYS_reboot,
    SYS_syslog,
    SYS_userfaultfd,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_lookup_dcookie,
    /* mounts and namespaces */
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_open_tree,
    SYS_pivot_root,
    SYS_setns,
    SYS_umount2,
    SYS_unshare,
    SYS_open_by_handle_at,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_swapoff,
    SYS_swapon,
    SYS_fanotify_init,
    /* the machine's time and accounting */
    SYS_acct,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_settimeofday,
    SYS_nfsservctl,
    SYS_vhangup,
    /* other processes */
    SYS_kcmp,
    SYS_pidfd_getfd,
#ifdef __x86_64__
    SYS__sysctl,
    SYS_create_module,
    SYS_get_kernel_syms,
    SYS_ioperm,
    SYS_iopl,
    SYS_query_module,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
#endif
};

static struct sock_filter seccomp_load(size_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter seccomp_return(uint32_t action)
{
    return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

static struct sock_filter seccomp_jump(uint16_t test, uint32_t value, uint8_t yes, uint8_t no)
{
    return (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, yes, no);
}

int step_seccomp_install(struct err *err)
{
    const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, absent = SECCOMP_RET_ERRNO | ENOSYS;
    struct sock_filter program[ARRAY_SIZE(DENIED) * 2 + 24];
    unsigned short count = 0;
    program[count++] = seccomp_load(offsetof(struct seccomp_data, arch));
    program[count++] = seccomp_jump(BPF_JEQ, NATIVE_ARCH, 1, 0);
    program[count++] = seccomp_return(refuse);
    program[count++] = seccomp_load(offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    program[count++] = seccomp_jump(BPF_JGE, X32_BIT, 0, 1);
    program[count++] = seccomp_return(absent);
#endif
    /* The flags of clone3() are in memory, which a filter cannot read. With ENOSYS the C library
     * uses clone() instead. */
    program[count++] = seccomp_jump(BPF_JEQ, SYS_clone3, 0, 1);
    program[count++] = seccomp_return(absent);
    for (size_t i = 0; i < ARRAY_SIZE(DENIED); i++) {
        program[count++] = seccomp_jump(BPF_JEQ, (uint32_t)DENIED[i], 0, 1);
        program[count++] = seccomp_return(refuse);
    }
    program[count++] = seccomp_jump(BPF_JEQ, SYS_clone, 0, 3);
    program[count++] = seccomp_load(offsetof(struct seccomp_data, args[0]));
    program[count++] = seccomp_jump(BPF_JSET, NAMESPACES, 0, 1);
    program[count++] = seccomp_return(refuse);
    program[count++] = seccomp_return(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = count, .filter = program};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0)
        return 0;
    /* A kernel without filters: the other protections still hold. */
    return errno == EINVAL ? 0 : err_set_errno(err, errno, "cannot filter system calls");
}
