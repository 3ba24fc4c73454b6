/* Fuzzes field sets. The input is {a, b}: two sets as FieldsV1, or two objects. A set that is read
 * must read back the same after being written. The set operations must keep their laws. The
 * differences between two objects must add up. */
#include "base/mem.h"
#include "kube/patch/fieldset.h"
#include "kube/patch/typed.h"
#include "kube/types/types.h"

#include <stdint.h>
#include <string.h>

static void check(bool good, const char *law)
{
    if (!good)
        mem_panic("broken: %s", law);
}

static void check_sets(struct arena *arena, struct fieldset a, struct fieldset b)
{
    struct json *json = fieldset_to_json(arena, a);
    const char *text = json_to_string(arena, json);
    struct json *parsed;
    struct fieldset back, sum = fieldset_union(arena, a, b);
    struct fieldset both = fieldset_intersection(arena, a, b);
    struct fieldset only = fieldset_difference(arena, a, b);
    check(json_parse(arena, text, strlen(text), NULL, &parsed, NULL) == 0 &&
              fieldset_from_json(arena, parsed, &back, NULL) == 0 && fieldset_equal(a, back),
          "what is written is read back");
    check(fieldset_equal(sum, fieldset_union(arena, b, a)), "a or b is b or a");
    check(fieldset_equal(both, fieldset_intersection(arena, b, a)), "a and b is b and a");
    check(fieldset_equal(a, fieldset_union(arena, only, both)), "a is what b has and has not");
    check(fieldset_is_empty(fieldset_intersection(arena, only, b)), "b has not what it has not");
    check(fieldset_is_empty(fieldset_difference(arena, a, sum)), "a is in a or b");
    check(fieldset_is_empty(fieldset_difference(arena, only, a)), "what is left of a was in it");
}

static void check_objects(struct arena *arena, const struct json *a, const struct json *b)
{
    const struct schema_object *type = &TYPE_POD;
    struct typed_comparison forth = typed_compare(arena, type, a, b);
    struct typed_comparison back = typed_compare(arena, type, b, a);
    check(fieldset_equal(forth.added, back.removed) && fieldset_equal(forth.removed, back.added) &&
              fieldset_equal(forth.modified, back.modified),
          "what is new one way is gone the other");
    struct json *merged = typed_merge(arena, type, a, b);
    struct fieldset wanted = typed_fields(arena, type, b),
                    there = typed_fields(arena, type, merged);
    if (typed_check(arena, type, a, NULL) == 0 && typed_check(arena, type, b, NULL) == 0) {
        check(fieldset_is_empty(
                  fieldset_difference(arena, wanted, typed_with_parents(arena, type, there))),
              "what is applied is there");
        check(fieldset_is_empty(
                  typed_compare(arena, type, merged, typed_merge(arena, type, merged, b)).added),
              "to apply twice is to apply once");
    }
    typed_remove(arena, type, merged, there);
    check_sets(arena, wanted, there);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 60, .nodes = 5000};
    struct json *json = NULL;
    struct fieldset a, b;
    if (json_parse(arena, (const char *)data, size, &limits, &json, NULL) == 0) {
        const struct json *x = json_get(json, "a"), *y = json_get(json, "b");
        if (x && y && fieldset_from_json(arena, x, &a, NULL) == 0 &&
            fieldset_from_json(arena, y, &b, NULL) == 0)
            check_sets(arena, a, b);
        if (x && y && x->type == JSON_OBJECT && y->type == JSON_OBJECT)
            check_objects(arena, x, y);
    }
    arena_free(arena);
    return 0;
}
