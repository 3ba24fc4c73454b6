/* What of the machine a pod must not see; see pod/masks.h. */
#include "node/plan/masks.h"

#include "base/mem.h"
#include "base/str.h"

/* What lies in a home and is nobody's business but its owner's; the rest of the home is shown
 * read-only, because it is where people keep their code. */
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
