/* Fuzzes the parser of kubeconfigs, and the parser of a credential plugin's output with the same
 * input. An input is either accepted or rejected with a message, and an accepted one must keep the
 * parser's contract. The input is two kubeconfigs that are merged, split at the first NUL. No file
 * is opened and no plugin runs. */
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

static void check_credential(struct arena *arena, const char *text, size_t size)
{
    static const struct exec_plugin plugin = {.api_version = "client.authentication.k8s.io/v1",
                                              .command = "plugin"};
    struct exec_credential credential;
    struct err err = ERR_INIT;
    if (exec_credential_parse(arena, &plugin, text, size, &credential, &err) < 0) {
        if (!*err.message)
            mem_panic("a credential is refused without a message");
    } else if (!credential.token && !(credential.cert_pem && credential.key_pem)) {
        mem_panic("a credential has neither a token nor a certificate");
    }
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
    check_credential(arena, (const char *)data, size);
    arena_free(arena);
    return 0;
}
