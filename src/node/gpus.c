/* Counts the GPUs and lists their device files; see gpus.h. */
#include "node/gpus.h"

#include "base/str.h"
#include "kube/devices.h"

#include <dirent.h>
#include <string.h>

static const char PREFIX[] = "nvidia";

/* Returns true for a name such as "nvidia12". */
static bool is_gpu(const char *name)
{
    const char *digits = name + strlen(PREFIX);
    return str_has_prefix(name, PREFIX) && digits[0] &&
           strspn(digits, "0123456789") == strlen(digits);
}

static bool is_of_driver(const char *name)
{
    return str_eq(name, "nvidiactl") || str_eq(name, "nvidia-uvm") ||
           str_eq(name, "nvidia-uvm-tools") || str_eq(name, "nvidia-modeset");
}

int gpus_count(const char *root)
{
    DIR *directory = opendir(root);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += is_gpu(entry->d_name);
    if (directory)
        closedir(directory);
    return count < KUBE_DEVICES_MAX ? count : KUBE_DEVICES_MAX;
}

void gpus_devices(struct arena *arena, const char *root, struct pod_strings *ret)
{
    DIR *directory = opendir(root);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (is_gpu(entry->d_name) || is_of_driver(entry->d_name))
            pod_strings_add(arena, ret, arena_printf(arena, "%s/%s", root, entry->d_name));
    if (directory)
        closedir(directory);
}
