/* Lists the paths of the machine that pods must not see; see plan/masks.h. */
#include "node/plan/masks.h"

#include "base/mem.h"
#include "base/str.h"

/* Files and directories with secrets in a home directory. The rest of the home directory is visible
 * read-only, because users keep their code there. */
static const char *const SECRETS[] = {
    ".ssh",
    ".kube",
    ".gnupg",
    ".aws",
    ".azure",
    ".docker",
    ".config/gcloud",
    ".config/rclone",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
};

void plan_masks_add(struct arena *arena, const char *state_dir, const char *home,
                    struct pod_strings *ret)
{
    pod_strings_add(arena, ret, state_dir);
    if (!home || !str_eq(home, "/root"))
        pod_strings_add(arena, ret, "/root");
    for (size_t i = 0; home && i < ARRAY_SIZE(SECRETS); i++)
        pod_strings_add(arena, ret, arena_printf(arena, "%s/%s", home, SECRETS[i]));
}
