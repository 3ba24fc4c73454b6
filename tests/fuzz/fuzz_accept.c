/* Fuzzes the parser of Accept headers. Its clauses must be media types in order of preference. */
#include "base/mem.h"
#include "net/accept.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct accept accept;
    accept_parse(arena, arena_strndup(arena, (const char *)data, size), &accept);
    if (accept.count > ACCEPT_CLAUSES_MAX)
        mem_panic("%zu clauses", accept.count);
    for (size_t i = 0; i < accept.count; i++) {
        const struct accept_clause *clause = &accept.clauses[i];
        if (!strchr(clause->type, '/') || !(clause->quality > 0 && clause->quality <= 1))
            mem_panic("'%s' with %f is no clause", clause->type, clause->quality);
        if (i > 0 && clause->quality > accept.clauses[i - 1].quality)
            mem_panic("'%s' is wanted more than what comes before it", clause->type);
    }
    accept_matches(&accept, "application/json");
    arena_free(arena);
    return 0;
}
