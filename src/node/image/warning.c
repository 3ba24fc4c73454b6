/* Whether pods will find the program that an image stands for. */
#include "node/node.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>

static bool lies_in(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    return strncmp(path, directory, size) == 0 && path[size] == '/';
}

const char *node_image_warning(struct arena *arena, const struct node_image *image,
                               const char *home)
{
    /* Of these a pod has its own. */
    static const char *const FRESH[] = {"/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"};
    const char *program = image->command_count ? image->command[0] : "";
    if (program[0] != '/')
        return strchr(program, '/') ? "a program is looked for in the working directory unless its "
                                      "path begins with '/'"
                                    : NULL;
    if (image->rootfs)
        return file_exists(arena_printf(arena, "%s%s", image->rootfs, program))
                   ? NULL
                   : arena_printf(arena, "there is no '%s' in '%s'", program, image->rootfs);
    for (size_t i = 0; i < sizeof(FRESH) / sizeof(*FRESH); i++)
        if (lies_in(program, FRESH[i]))
            return arena_printf(arena,
                                "pods have a '%s' of their own and will not find '%s': keep it "
                                "elsewhere, in your home or in /opt",
                                FRESH[i], program);
    if (lies_in(program, image->state_dir))
        return arena_printf(arena, "pods do not see '%s': keep '%s' elsewhere", image->state_dir,
                            program);
    if (lies_in(program, "/root") && !str_eq(home, "/root"))
        return arena_printf(arena, "pods do not see '/root': keep '%s' elsewhere", program);
    if (!file_exists(program))
        return arena_printf(arena, "there is no '%s' now", program);
    return NULL;
}
