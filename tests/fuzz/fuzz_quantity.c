/* Fuzzes quantities. A quantity that is read must be written as a canonical one of the same
 * amount. */
#include "base/arena.h"
#include "base/mem.h"
#include "kube/quantity.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct kube_quantity quantity, again;
    char text[KUBE_QUANTITY_TEXT_MAX], canonical[KUBE_QUANTITY_TEXT_MAX];
    if (kube_quantity_parse(arena_strndup(arena, (const char *)data, size), &quantity, NULL) == 0) {
        kube_quantity_format(&quantity, text);
        if (kube_quantity_parse(text, &again, NULL) < 0)
            mem_panic("'%s' was written but is not read", text);
        if (kube_quantity_compare(&quantity, &again) != 0)
            mem_panic("'%s' is another amount", text);
        kube_quantity_format(&again, canonical);
        /* "7812.5Ki" is written as "8000000", as Kubernetes does, and that is read as "8M". */
        if (again.form == quantity.form && strcmp(text, canonical) != 0)
            mem_panic("'%s' is not canonical: '%s'", text, canonical);
        kube_quantity_value(&quantity);
        kube_quantity_milli(&quantity);
        kube_quantity_add(&again, &quantity);
    }
    arena_free(arena);
    return 0;
}
