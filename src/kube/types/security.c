/* Types of security contexts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define NO_LABELS "security labels are not applied"

LOCAL_TYPE(CAPABILITIES, CORE "Capabilities", "Linux capabilities that are added or removed",
    TEXTS(1, "add", "capabilities to add"),
    TEXTS(2, "drop", "capabilities to remove"));

LOCAL_TYPE(SE_LINUX_OPTIONS, CORE "SELinuxOptions", "an SELinux label",
    TEXT(1, "user", "the SELinux user"),
    TEXT(2, "role", "the SELinux role"),
    TEXT(3, "type", "the SELinux type"),
    TEXT(4, "level", "the SELinux level"));

LOCAL_TYPE(WINDOWS_SECURITY_CONTEXT_OPTIONS, CORE "WindowsSecurityContextOptions",
        "security settings for Windows containers",
    TEXT(1, "gmsaCredentialSpecName", "the name of the GMSA credential spec", IF_SET),
    TEXT(2, "gmsaCredentialSpec", "the content of the GMSA credential spec", IF_SET),
    TEXT(3, "runAsUserName", "the Windows user that processes run as", IF_SET),
    BOOL(4, "hostProcess", "true: the container runs as a host process", IF_SET));

LOCAL_TYPE(SECCOMP_PROFILE, CORE "SeccompProfile", "a seccomp profile, which filters system calls",
    TEXT(1, "type", "the source of the profile: Localhost, RuntimeDefault or Unconfined", REQUIRED,
        ALWAYS, WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "the profile file on the node; only for type Localhost", IF_SET));

LOCAL_TYPE(APP_ARMOR_PROFILE, CORE "AppArmorProfile", "an AppArmor profile",
    TEXT(1, "type", "the source of the profile: Localhost, RuntimeDefault or Unconfined", REQUIRED,
        ALWAYS, WORDS("Localhost", "RuntimeDefault", "Unconfined")),
    TEXT(2, "localhostProfile", "the profile file on the node; only for type Localhost", IF_SET));

TYPE(TYPE_SECURITY_CONTEXT, CORE "SecurityContext", "security settings of a container",
    OBJECT(1, "capabilities", CAPABILITIES, "Linux capabilities that are added or removed"),
    BOOL(2, "privileged", "true: processes have the rights of root on the node", IF_SET),
    OBJECT(3, "seLinuxOptions", SE_LINUX_OPTIONS, "the SELinux label of the container",
        UNSUPPORTED(NO_LABELS)),
    OBJECT(10, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS,
        "security settings for Windows containers"),
    INT64(4, "runAsUser", "the UID that processes run as", IF_SET),
    INT64(8, "runAsGroup", "the GID that processes run as", IF_SET),
    BOOL(5, "runAsNonRoot", "true: a container that would run as root does not start", IF_SET),
    BOOL(6, "readOnlyRootFilesystem", "true: the root file system is read-only", IF_SET),
    BOOL(7, "allowPrivilegeEscalation",
        "false: a process cannot gain more privileges than its parent", IF_SET),
    TEXT(9, "procMount", "the type of the /proc mount: Default or Unmasked", IF_SET,
        WORDS("Default", "Unmasked")),
    OBJECT(11, "seccompProfile", SECCOMP_PROFILE, "the seccomp profile that filters system calls"),
    OBJECT(12, "appArmorProfile", APP_ARMOR_PROFILE, "the AppArmor profile of the container",
        UNSUPPORTED(NO_LABELS)));

LOCAL_TYPE(SYSCTL, CORE "Sysctl", "a kernel parameter",
    TEXT(1, "name", "the name of the parameter", REQUIRED, ALWAYS),
    TEXT(2, "value", "the value of the parameter", REQUIRED, ALWAYS));

TYPE(TYPE_POD_SECURITY_CONTEXT, CORE "PodSecurityContext",
        "security settings for all containers of a pod",
    OBJECT(1, "seLinuxOptions", SE_LINUX_OPTIONS, "the SELinux label of the containers",
        UNSUPPORTED(NO_LABELS)),
    OBJECT(8, "windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS,
        "security settings for Windows containers"),
    INT64(2, "runAsUser", "the UID that processes run as", IF_SET),
    INT64(6, "runAsGroup", "the GID that processes run as", IF_SET),
    BOOL(3, "runAsNonRoot", "true: a container that would run as root does not start", IF_SET),
    LIST_OF(4, "supplementalGroups", TYPE_INT64,
        "supplementary groups of each container's first process"),
    TEXT(12, "supplementalGroupsPolicy",
        "Merge or Strict: whether groups of the image are added too", IF_SET),
    INT64(5, "fsGroup", "the group that owns the files of the volumes", IF_SET),
    LIST(7, "sysctls", SYSCTL, "kernel parameters of the pod's namespaces"),
    TEXT(9, "fsGroupChangePolicy",
        "Always or OnRootMismatch: when volume files are changed to fsGroup", IF_SET,
        WORDS("Always", "OnRootMismatch")),
    OBJECT(10, "seccompProfile", SECCOMP_PROFILE, "the seccomp profile that filters system calls"),
    OBJECT(11, "appArmorProfile", APP_ARMOR_PROFILE, "the AppArmor profile of the containers",
        UNSUPPORTED(NO_LABELS)),
    TEXT(13, "seLinuxChangePolicy", "MountOption or Recursive: how volumes get the SELinux label",
        IF_SET));
