/* Creates the link `python`; see plan/python.h. */
#include "node/plan/python.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <errno.h>
#include <unistd.h>

static const char *find_python(void)
{
    static const char *const PLACES[] = {"/usr/local/bin/python3", "/usr/bin/python3"};
    for (size_t i = 0; i < ARRAY_SIZE(PLACES); i++)
        if (access(PLACES[i], X_OK) == 0)
            return PLACES[i];
    return NULL;
}

int plan_python_link(const char *directory, struct err *err)
{
    const char *python = find_python();
    if (!python)
        return 0;
    _cleanup_free_ char *link = mem_printf("%s/python", directory);
    int result = file_make_dirs(directory, 0755, err);
    if (result == 0 && symlink(python, link) < 0 && errno != EEXIST)
        result = err_set_errno(err, errno, "cannot make the link '%s'", link);
    return result;
}
