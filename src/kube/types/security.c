/* Types of security contexts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_LABELS "security labels are not applied"

LOCAL_TYPE(CAPABILITIES, CORE "Capabilities", "rights of root, one by one",
    TEXTS(1, "add", "rights it gets besides"),
    TEXTS(2, "drop", "rights it loses"));

LOCAL_TYPE(SE_LINUX_OPTIONS, CORE "SELinuxOptions", "a SELinux label",
    TEXT(1, "user", "its user"),
    TEXT(2, "role", "its role"),
    TEXT(3, "type", "its type"),
    TEXT(4, "level", "its level"));

LOCAL_TYPE(WINDOWS_SECURITY_CONTEXT_OPTIONS, CORE "WindowsSecurityContextOptions",
        "settings of Windows",
    TEXT(1, "gmsaCredentialSpecName", "the name of its group account's credentials", IF_SET),
    TEXT(2, "gmsaCredentialSpec", "the credentials themselves", IF_SET),
    TEXT(3, "runAsUserName", "the user it runs as", IF_SET),
    BOOL(4, "hostProcess", "true: it runs as a process of the host", IF_SET));

LOCAL_TYPE(SECCOMP_PROFILE, CORE "SeccompProfile", "which system calls may be made",
    TEXT(1, "type", "where the profile comes from", REQUIRED, ALWAYS,
        WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "the name of a profile of the node, of type Localhost", IF_SET));

LOCAL_TYPE(APP_ARMOR_PROFILE, CORE "AppArmorProfile", "what AppArmor allows",
    TEXT(1, "type", "where the profile comes from", REQUIRED, ALWAYS,
        WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "the name of a profile of the node, of type Localhost", IF_SET));

TYPE(TYPE_SECURITY_CONTEXT, CORE "SecurityContext", "users and rights of a container",
    OBJECT(1, "capabilities", CAPABILITIES, "rights of root it gets or loses"),
    BOOL(2, "privileged", "true: it may do what root of the node may do", IF_SET),
    OBJECT(3, "seLinuxOptions", SE_LINUX_OPTIONS, "its SELinux labels", UNSUPPORTED(NO_LABELS)),
    OBJECT(10, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, "settings of Windows"),
    INT64(4, "runAsUser", "the number of the user it runs as", IF_SET),
    INT64(8, "runAsGroup", "the number of the group it runs as", IF_SET),
    BOOL(5, "runAsNonRoot", "true: it is not started as root", IF_SET),
    BOOL(6, "readOnlyRootFilesystem", "true: it cannot write to its root", IF_SET),
    BOOL(7, "allowPrivilegeEscalation", "false: it cannot get more rights than it was started with",
        IF_SET),
    TEXT(9, "procMount", "how much it sees in /proc", IF_SET, WORDS("Default", "Unmasked")),
    OBJECT(11, "seccompProfile", SECCOMP_PROFILE, "which system calls it may make"),
    OBJECT(12, "appArmorProfile", APP_ARMOR_PROFILE, "what AppArmor allows it",
        UNSUPPORTED(NO_LABELS)));

LOCAL_TYPE(SYSCTL, CORE "Sysctl", "a setting of the kernel",
    TEXT(1, "name", "its name", REQUIRED, ALWAYS),
    TEXT(2, "value", "its value", REQUIRED, ALWAYS));

TYPE(TYPE_POD_SECURITY_CONTEXT, CORE "PodSecurityContext",
        "users, groups and rights of all containers of a pod",
    OBJECT(1, "seLinuxOptions", SE_LINUX_OPTIONS, "its SELinux labels", UNSUPPORTED(NO_LABELS)),
    OBJECT(8, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, "settings of Windows"),
    INT64(2, "runAsUser", "the number of the user it runs as", IF_SET),
    INT64(6, "runAsGroup", "the number of the group it runs as", IF_SET),
    BOOL(3, "runAsNonRoot", "true: it is not started as root", IF_SET),
    LIST_OF(4, "supplementalGroups", TYPE_INT64,
        "further groups of each container's first process"),
    TEXT(12, "supplementalGroupsPolicy", "whether the groups of the image count, too", IF_SET),
    INT64(5, "fsGroup", "the group that files of its volumes get", IF_SET),
    LIST(7, "sysctls", SYSCTL, "settings of the kernel for its namespaces"),
    TEXT(9, "fsGroupChangePolicy", "when the files of a volume are given to fsGroup", IF_SET,
        WORDS("Always", "OnRootMismatch")),
    OBJECT(10, "seccompProfile", SECCOMP_PROFILE, "which system calls it may make"),
    OBJECT(11, "appArmorProfile", APP_ARMOR_PROFILE, "what AppArmor allows it",
        UNSUPPORTED(NO_LABELS)),
    TEXT(13, "seLinuxChangePolicy", "how the files of volumes get their SELinux label", IF_SET));
