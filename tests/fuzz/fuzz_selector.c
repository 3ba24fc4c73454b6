/* Fuzzes selectors. A selector must read back the same after being written, and match the same
 * labels. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/selector.h"

#include <stdint.h>
#include <string.h>

static const char LABELS[] = "{\"a\":\"b\",\"c\":\"\",\"n\":\"5\",\"example.com/x\":\"y\"}";

static void check_labels(struct arena *arena, const char *text)
{
    struct kube_selector selector, again;
    struct err err = ERR_INIT;
    struct json *labels = NULL;
    if (kube_selector_parse(arena, text, &selector, &err) < 0) {
        if (err.message[0] == '\0')
            mem_panic("refused without a word");
        return;
    }
    const char *written = kube_selector_text(arena, &selector);
    if (strlen(written) > KUBE_SELECTOR_MAX)
        return; /* the spaces after commas can make it too long to read back */
    if (kube_selector_parse(arena, written, &again, &err) < 0)
        mem_panic("'%s' was written but is not read: %s", written, err.message);
    if (!str_eq(kube_selector_text(arena, &again), written))
        mem_panic("'%s' is read back as something else", written);
    json_parse(arena, LABELS, strlen(LABELS), NULL, &labels, NULL);
    if (kube_selector_matches(&selector, labels) != kube_selector_matches(&again, labels))
        mem_panic("'%s' matches otherwise", written);
    kube_selector_matches(&selector, NULL);
}

static void check_fields(struct arena *arena, const char *text)
{
    struct kube_field_selector selector;
    struct err err = ERR_INIT;
    struct json *object = NULL;
    if (kube_field_selector_parse(arena, text, &selector, &err) < 0)
        return;
    json_parse(arena, LABELS, strlen(LABELS), NULL, &object, NULL);
    kube_field_selector_matches(&selector, object, kube_field_get);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *text = arena_strndup(arena, (const char *)data, size);
    check_labels(arena, text);
    check_fields(arena, text);
    arena_free(arena);
    return 0;
}
