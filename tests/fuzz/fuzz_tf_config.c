/* Fuzzes the parser of TF_CONFIG, and the same text as a list of hosts. An accepted cluster must be
 * valid. */
#include "base/mem.h"
#include "comm/cluster/tf_config.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct ty_tf_config *config)
{
    if (config->self >= config->count || config->count > TY_TASKS_MAX)
        mem_panic("fuzz: task %zu of %zu", config->self, config->count);
    for (size_t i = 0; i < config->count; i++) {
        const struct ty_task *task = &config->tasks[i];
        char text[TF_CONFIG_TASK_TEXT_MAX];
        tf_config_task_describe(task, text);
        if ((task->host[0] == '\0') != (task->port == 0) || (unsigned)task->role >= TY_ROLES)
            mem_panic("fuzz: task '%s'", text);
    }
    (void)ty_tf_config_is_chief(config);
    ty_tf_config_free(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    if (tf_config_parse((const char *)data, size, &config, &err) == 0)
        check(config);
    char *text = mem_strndup((const char *)data, size);
    if (tf_config_from_flags(NULL, text, "worker", 0, &config, &err) == 0)
        check(config);
    free(text);
    return 0;
}
