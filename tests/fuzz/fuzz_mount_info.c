/* Fuzzes the parser of mountinfo. The input is a path and the text of mountinfo, with a line "="
 * between them. The other paths of the file must be absolute, and must differ from the first
 * path. */
#include "base/mem.h"
#include "node/process/mount_info.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 64 * 1024)
        return 0;
    struct arena *arena = arena_new();
    char *path = arena_strndup(arena, (const char *)data, size), *mounts = strstr(path, "\n=\n");
    if (mounts && path[0] == '/') {
        struct pod_strings aliases = {0};
        *mounts = '\0';
        mount_info_aliases(arena, mounts + 3, path, &aliases);
        for (size_t i = 0; i < aliases.count; i++)
            if (aliases.items[i][0] != '/' && aliases.items[i][0] != '\0')
                mem_panic("'%s' is no path", aliases.items[i]);
            else if (strcmp(aliases.items[i], path) == 0)
                mem_panic("'%s' is not another path", path);
    }
    arena_free(arena);
    return 0;
}
