/* Fuzzes the parser of kubeconfigs. An input is either accepted or rejected with a message, and an
 * accepted one must keep the parser's contract. The input is two files that are merged, split at
 * the first NUL. No file is opened and no plugin runs. */
#include "base/mem.h"
#include "base/source.h"
#include "base/str.h"
#include "kube/client/exec_plugin.h"
#include "kube/client/kubeconfig.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(struct arena *arena, const struct kubeconfig *config)
{
    if (!config->server || !config->namespace_ || !config->context || !config->path)
        mem_panic("something that is always there is not");
    if ((config->cert_pem || config->cert_file) != (config->key_pem || config->key_file))
        mem_panic("half a certificate");
    if (config->exec && (config->token || config->token_file || config->cert_pem))
        mem_panic("a plugin beside a credential");
    if (config->exec)
        exec_plugin_info(arena, config->exec, false);
    kubeconfig_rejection_text(arena, config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct kubeconfig config;
    struct err err = ERR_INIT;
    const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
    struct source texts[2] = {
        {"/a/config", (const char *)data, cut ? (size_t)(cut - data) : size, true}};
    size_t count = 1;
    if (cut)
        texts[count++] = (struct source){"/b/config", (const char *)cut + 1,
                                         size - (size_t)(cut + 1 - data), true};
    if (kubeconfig_parse(arena, texts, count, NULL, &config, &err) == 0)
        check(arena, &config);
    else if (!*err.message)
        mem_panic("refused without a word");
    arena_free(arena);
    return 0;
}
