/* Writes sysctls of the pod's own namespaces, when the supervisor starts. The planner refuses all
 * other sysctls. This code checks them again, because a supervisor that runs as root could change
 * the machine's sysctls. */
#include "node/plan/sysctl_names.h"
#include "node/step/step.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <string.h>

static int set_one(const struct pod_spec *spec, const char *setting, struct err *err)
{
    _cleanup_free_ char *name = mem_strdup(setting);
    char *equals = strchr(name, '=');
    if (!equals)
        return err_set(err, ERR_INVALID, "'%s' is not of the form NAME=VALUE", setting);
    *equals = '\0';
    if (!sysctl_is_of_pod(name, spec->network != NULL, !spec->machine_ipc))
        return err_set(err, ERR_INVALID, "sysctl '%s' does not belong to the pod's own namespaces",
                       name);
    _cleanup_free_ char *path = mem_printf("/proc/sys/%s", name);
    for (char *dot = path + strlen("/proc/sys/"); (dot = strchr(dot, '.'));)
        *dot = '/';
    int result = file_write_into(path, equals + 1, err);
    return result < 0 ? err_wrap(err, "cannot set sysctl '%s'", name) : 0;
}

int step_sysctls_set(const struct pod_spec *spec, struct err *err)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < spec->sysctls.count; i++)
        result = set_one(spec, spec->sysctls.items[i], err);
    return result;
}
