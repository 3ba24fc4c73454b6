/* Fuzzes server-side apply by force. The input is {live, config}; the live object may have any
 * owners. The result must survive being written and read back. Applying the same config again must
 * change nothing and cause no conflict. An update without a change must change nothing. Neither
 * input may change. */
#include "base/mem.h"
#include "kube/patch/apply.h"
#include "kube/types/types.h"

#include <stdint.h>
#include <string.h>

static void check(bool good, const char *law)
{
    if (!good)
        mem_panic("broken: %s", law);
}

static void check_again(struct arena *arena, const struct managed_write *write,
                        const struct json *once, const struct json *config)
{
    struct apply_conflicts conflicts = {0};
    struct json *twice = NULL, *updated = json_clone(arena, once);
    check(apply_config(arena, write, once, config, false, &twice, &conflicts, NULL) == 0,
          "what is mine is no conflict");
    check(json_equal(once, twice), "to apply twice is to apply once");
    managed_fields_track(arena, write, once, updated);
    check(json_equal(once, updated), "to change nothing changes no owner");
}

static void check_apply(struct arena *arena, const struct json *live, const struct json *config)
{
    const struct managed_write write = {.type = &TYPE_POD,
                                        .manager = "fuzzer",
                                        .api_version = "v1",
                                        .subresource = "",
                                        .now_ms = 1000};
    const char *live_before = json_to_string(arena, live);
    const char *config_before = json_to_string(arena, config);
    struct apply_conflicts conflicts = {0};
    struct json *result = NULL, *back = NULL;
    struct err err = ERR_INIT;
    int code = apply_config(arena, &write, live, config, true, &result, &conflicts, &err);
    check(strcmp(json_to_string(arena, live), live_before) == 0 &&
              strcmp(json_to_string(arena, config), config_before) == 0,
          "inputs do not change");
    if (code < 0) {
        check(code == -ERR_UNKNOWN && err.message[0] != '\0', "refused with a word");
        return;
    }
    const char *text = json_to_string(arena, result);
    check(json_parse(arena, text, strlen(text), NULL, &back, NULL) == 0 && json_equal(result, back),
          "what is made is read back");
    check_again(arena, &write, result, config);
}

/* Whether the config has no managedFields, which a server rejects in an apply. */
static bool is_applicable(const struct json *config)
{
    const struct json *meta = json_get(config, "metadata");
    return config->type == JSON_OBJECT && (!meta || meta->type == JSON_OBJECT) &&
           !json_get(meta, "managedFields");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 60, .nodes = 3000};
    struct json *json = NULL;
    if (json_parse(arena, (const char *)data, size, &limits, &json, NULL) == 0) {
        const struct json *live = json_get(json, "live"), *config = json_get(json, "config");
        if (live && config && live->type == JSON_OBJECT && is_applicable(config))
            check_apply(arena, live, config);
    }
    arena_free(arena);
    return 0;
}
