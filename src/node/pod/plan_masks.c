/* What of the machine a pod must not see. Secrets of the cluster that lie elsewhere are in a list
 * of their own (pod/secrets.h). */
#include "node/pod/plan_internal.h"

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

void planner_add_masks(struct planner *p)
{
    const char *home = p->input->home;
    pod_strings_add(p->arena, &p->spec->masks, p->input->state_dir);
    p->spec->secrets = arena_printf(p->arena, "%s/secrets", p->input->state_dir);
    if (!home || !str_eq(home, "/root"))
        pod_strings_add(p->arena, &p->spec->masks, "/root");
    for (size_t i = 0; home && i < ARRAY_SIZE(SECRETS); i++)
        pod_strings_add(p->arena, &p->spec->masks,
                        arena_printf(p->arena, "%s/%s", home, SECRETS[i]));
}
