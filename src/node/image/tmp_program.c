/* Finds programs below the machine's /tmp; see image/tmp_program.h. */
#include "node/image/tmp_program.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directories that each pod has for itself. Users keep programs in the first TMP_DIRECTORY_COUNT.
 */
static const char *const HIDDEN[] = {"/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"};
enum { TMP_DIRECTORY_COUNT = 2 };

static bool path_is_below(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    return strncmp(path, directory, size) == 0 && path[size] == '/' && path[size + 1];
}

const char *image_hidden_in(const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE(HIDDEN); i++)
        if (path_is_below(path, HIDDEN[i]))
            return HIDDEN[i];
    return NULL;
}

bool image_is_script_name(const char *path)
{
    static const char *const ENDINGS[] = {".py", ".sh", ".pl", ".rb", ".js", ".lua", ".R", ".jl"};
    for (size_t i = 0; i < ARRAY_SIZE(ENDINGS); i++)
        if (str_has_suffix(path, ENDINGS[i]))
            return true;
    return false;
}

const char *image_tmp_program_entry(struct arena *arena, const char *word, size_t index)
{
    const char *top = image_hidden_in(word);
    struct stat info;
    bool is_in_tmp = false;
    for (size_t i = 0; i < TMP_DIRECTORY_COUNT; i++)
        is_in_tmp = is_in_tmp || top == HIDDEN[i];
    if (!is_in_tmp || stat(word, &info) < 0 || !S_ISREG(info.st_mode))
        return NULL;
    if (index > 0 && access(word, X_OK) < 0 && !image_is_script_name(word))
        return NULL;
    const char *name = word + strlen(top) + 1;
    size_t name_size = strcspn(name, "/");
    const char *entry = arena_strndup(arena, word, (size_t)(name - word) + name_size);
    /* A path whose first name is "." or ".." names no entry, and a symbolic link can lead anywhere.
     */
    if (name[0] == '.' && (name_size == 1 || (name_size == 2 && name[1] == '.')))
        return NULL;
    return lstat(entry, &info) == 0 && !S_ISLNK(info.st_mode) ? entry : NULL;
}
