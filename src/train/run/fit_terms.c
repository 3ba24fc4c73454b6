/* Implements the terms of a run: options that must not differ between workers or on resume; see
 * fit_terms.h. */
#include "train/run/fit_terms.h"

#include "base/hash.h"
#include "train/run/fit_options.h"

#include <string.h>

enum { TEXT_MAX = 1 << 16 };

void fit_terms_init(struct fit_terms *terms, const struct command *command, const void *values)
{
    struct arena *arena = arena_new();
    *terms = (struct fit_terms){
        .arena = arena,
        .agreed = options_to_json(arena, command, values, 0, FIT_FREE),
        .kept = options_to_json(arena, command, values, FIT_KEPT, 0),
    };
}

void fit_terms_release(struct fit_terms *terms)
{
    terms->arena = arena_free(terms->arena);
}

void fit_terms_set(struct fit_terms *terms, const char *name, const char *meaning)
{
    json_set_string(terms->arena, terms->agreed, name, meaning);
    json_set_string(terms->arena, terms->kept, name, meaning);
}

void fit_terms_drop(struct fit_terms *terms, const char *name)
{
    json_remove(terms->agreed, name);
    json_remove(terms->kept, name);
}

const char *fit_terms_text(const struct fit_terms *terms)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    JSON_EACH (member, terms->agreed) {
        const char *value = json_text(member);
        buf_printf(&text, "--%s %s\n", member->name,
                   value ? value : json_to_string(terms->arena, member));
    }
    return arena_strndup(terms->arena, text.data, text.size);
}

uint64_t fit_terms_hash(const struct fit_terms *terms, uint64_t model)
{
    const char *text = fit_terms_text(terms);
    return hash_fnv1a(model, text, strlen(text));
}
