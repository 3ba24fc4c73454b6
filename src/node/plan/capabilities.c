/* Computes the capabilities of containers; see plan/capabilities.h. */
#include "node/plan/capabilities.h"

#include "base/mem.h"
#include "base/str.h"

#include <linux/capability.h>
#include <string.h>
#include <strings.h>

#define BIT(number) (UINT64_C(1) << (number))

/* The index of a name is the kernel's number of the capability. */
static const char *const NAMES[] = {
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
};

uint64_t capabilities_default(void)
{
    return BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) |
           BIT(CAP_KILL) | BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_SETFCAP) |
           BIT(CAP_NET_RAW) | BIT(CAP_SYS_CHROOT) | BIT(CAP_NET_BIND_SERVICE);
}

/* Capabilities for locked memory, priorities and the pod's own network are allowed, because they
 * give no access to other pods. */
uint64_t capabilities_most(bool nested, bool own_network)
{
    uint64_t most = capabilities_default();
    if (!nested)
        most |= BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_NICE);
    if (!nested && own_network)
        most |= BIT(CAP_NET_ADMIN) | BIT(CAP_NET_BROADCAST);
    return most;
}

uint64_t capabilities_named(const char *name)
{
    if (strncasecmp(name, "CAP_", 4) == 0)
        name += 4;
    if (strcasecmp(name, "ALL") == 0)
        return ~UINT64_C(0);
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (strcasecmp(name, NAMES[i]) == 0)
            return BIT(i);
    return 0;
}
