/* Prints manifests/base/crd/pod-template.schema: the schema of a pod template, made from the
 * tables, as YAML with one field of the pod per line. test_manifests.c fails if it must be made
 * again. */
#include "kube/schema/structural.h"
#include "kube/types/types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether YAML reads the text as the same text without quotes. */
static bool is_plain(const char *text)
{
    static const char *const others[] = {"true", "false", "null", "yes", "no",
                                         "on",   "off",   "y",    "n"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcasecmp(text, others[i]) == 0)
            return false;
    return isalpha((unsigned char)text[0]) &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
               strlen(text);
}

static void print_text(const char *text)
{
    if (is_plain(text))
        printf("%s", text);
    else
        printf("'%s'", text); /* no text of the tables has quotes */
}

static void print_flow(struct arena *arena, const struct json *json)
{
    bool object = json->type == JSON_OBJECT, first = true;
    if (json->type == JSON_STRING) {
        print_text(json->text);
        return;
    }
    if (!object && json->type != JSON_ARRAY) {
        printf("%s", json_to_string(arena, json));
        return;
    }
    printf("%c", object ? '{' : '[');
    JSON_EACH (member, json) {
        if (!first)
            printf(", ");
        first = false;
        if (object) {
            print_text(member->name);
            printf(": ");
        }
        print_flow(arena, member);
    }
    printf("%c", object ? '}' : ']');
}

/* Prints the members of an object, one per line. For `levels` levels, the members of its
 * properties, too. */
static void print_block(struct arena *arena, const struct json *object, int indent, int levels)
{
    JSON_EACH (member, object) {
        printf("%*s", indent, "");
        print_text(member->name);
        bool open = levels > 0 && member->type == JSON_OBJECT;
        printf(open ? ":\n" : ": ");
        if (open)
            print_block(arena, member, indent + 2, levels - 1);
        else
            print_flow(arena, member);
        if (!open)
            printf("\n");
    }
}

int main(void)
{
    static const struct schema template_ = {.type = SCHEMA_OBJECT,
                                            .object = &TYPE_POD_TEMPLATE_SPEC};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    printf("# The schema of a pod template, from src/kube/types. Made by "
           "tests/unit/operator/crd_template.c.\n");
    print_block(arena, schema_structural(arena, &template_), 0, 3);
    return 0;
}
