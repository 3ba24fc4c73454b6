/* What containers and pods may do. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_LABELS "security labels and filters of system calls are not applied"

LOCAL_TYPE(CAPABILITIES, CORE "Capabilities", "",
    TEXTS(1, "add", ""),
    TEXTS(2, "drop", ""));

LOCAL_TYPE(SE_LINUX_OPTIONS, CORE "SELinuxOptions", "",
    TEXT(1, "user", ""),
    TEXT(2, "role", ""),
    TEXT(3, "type", ""),
    TEXT(4, "level", ""));

LOCAL_TYPE(WINDOWS_SECURITY_CONTEXT_OPTIONS, CORE "WindowsSecurityContextOptions", "",
    TEXT(1, "gmsaCredentialSpecName", "", IF_SET),
    TEXT(2, "gmsaCredentialSpec", "", IF_SET),
    TEXT(3, "runAsUserName", "", IF_SET),
    BOOL(4, "hostProcess", "", IF_SET));

LOCAL_TYPE(SECCOMP_PROFILE, CORE "SeccompProfile", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS, WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "", IF_SET));

LOCAL_TYPE(APP_ARMOR_PROFILE, CORE "AppArmorProfile", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS, WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "", IF_SET));

TYPE(TYPE_SECURITY_CONTEXT, CORE "SecurityContext", "",
    OBJECT(1, "capabilities", CAPABILITIES, "", UNSUPPORTED("a container never has more than its sandbox")),
    BOOL(2, "privileged", "", IF_SET),
    OBJECT(3, "seLinuxOptions", SE_LINUX_OPTIONS, "", UNSUPPORTED(NO_LABELS)),
    OBJECT(10, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, ""),
    INT64(4, "runAsUser", "", IF_SET),
    INT64(8, "runAsGroup", "", IF_SET),
    BOOL(5, "runAsNonRoot", "", IF_SET),
    BOOL(6, "readOnlyRootFilesystem", "", IF_SET),
    BOOL(7, "allowPrivilegeEscalation", "", IF_SET),
    TEXT(9, "procMount", "", IF_SET, WORDS("Default", "Unmasked")),
    OBJECT(11, "seccompProfile", SECCOMP_PROFILE, "", UNSUPPORTED(NO_LABELS)),
    OBJECT(12, "appArmorProfile", APP_ARMOR_PROFILE, "", UNSUPPORTED(NO_LABELS)));

LOCAL_TYPE(SYSCTL, CORE "Sysctl", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "value", "", REQUIRED, ALWAYS));

TYPE(TYPE_POD_SECURITY_CONTEXT, CORE "PodSecurityContext", "",
    OBJECT(1, "seLinuxOptions", SE_LINUX_OPTIONS, "", UNSUPPORTED(NO_LABELS)),
    OBJECT(8, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, ""),
    INT64(2, "runAsUser", "", IF_SET),
    INT64(6, "runAsGroup", "", IF_SET),
    BOOL(3, "runAsNonRoot", "", IF_SET),
    LIST_OF(4, "supplementalGroups", TYPE_INT64, "", UNSUPPORTED("a container has no further groups")),
    TEXT(12, "supplementalGroupsPolicy", "", IF_SET),
    INT64(5, "fsGroup", "", IF_SET, UNSUPPORTED("volumes keep their owner and group")),
    LIST(7, "sysctls", SYSCTL, "", UNSUPPORTED("the kernel's settings are left alone")),
    TEXT(9, "fsGroupChangePolicy", "", IF_SET, WORDS("Always", "OnRootMismatch")),
    OBJECT(10, "seccompProfile", SECCOMP_PROFILE, "", UNSUPPORTED(NO_LABELS)),
    OBJECT(11, "appArmorProfile", APP_ARMOR_PROFILE, "", UNSUPPORTED(NO_LABELS)),
    TEXT(13, "seLinuxChangePolicy", "", IF_SET));
