/* Evaluates conditions; see condition.h. */
#include "pipeline/spec/condition.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/json_path.h"

#include <string.h>

static const char *const OPERATORS[] = {"==", "!=", ">=", "<=", ">", "<", "="}; /* longest first */

static bool condition_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the text without surrounding white space and without one pair of quotes. */
static const char *condition_trim(struct arena *arena, const char *text, size_t size)
{
    while (size > 0 && condition_is_blank(*text))
        text++, size--;
    while (size > 0 && condition_is_blank(text[size - 1]))
        size--;
    if (size >= 2 && (*text == '"' || *text == '\'') && text[size - 1] == *text)
        text++, size -= 2;
    return arena_strndup(arena, text, size);
}

/* Returns the first position outside of quotes at which one of the words begins, or NULL. Sets
 * *ret_word to the index of this word. */
static const char *find_outside_quotes(const char *text, const char *const *words, size_t count,
                                       size_t *ret_word)
{
    char quote = '\0';

    for (; *text; text++) {
        if (quote) {
            quote = *text == quote ? '\0' : quote;
            continue;
        }
        if (*text == '"' || *text == '\'') {
            quote = *text;
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (strncmp(text, words[i], strlen(words[i])) == 0) {
                *ret_word = i;
                return text;
            }
        }
    }
    return NULL;
}

static bool condition_compare(const char *left, const char *operator_, const char *right)
{
    double a, b;
    bool numbers = str_to_double(left, &a, NULL) == 0 && str_to_double(right, &b, NULL) == 0;
    int order = numbers ? (a > b) - (a < b) : strcmp(left, right);

    if (str_eq(operator_, "==") || str_eq(operator_, "="))
        return order == 0;
    if (str_eq(operator_, "!="))
        return order != 0;
    if (str_eq(operator_, ">="))
        return order >= 0;
    if (str_eq(operator_, "<="))
        return order <= 0;
    return str_eq(operator_, ">") ? order > 0 : order < 0;
}

/* Evaluates "true" or "false". Any other text is not a condition. */
static int eval_constant(const char *text, bool *ret, struct err *err)
{
    *ret = str_eq(text, "true");
    if (*ret || str_eq(text, "false"))
        return 0;
    return err_set(
        err, ERR_INVALID,
        "'%.100s' is not a condition: write LEFT OPERATOR RIGHT with ==, !=, <, <=, > or >=", text);
}

/* Evaluates one comparison. If `object` is given, the left side is a path in the object. */
static int eval_one(struct arena *arena, const char *text, const struct json *object, bool *ret,
                    struct err *err)
{
    size_t which;
    const char *at = find_outside_quotes(text, OPERATORS, ARRAY_SIZE(OPERATORS), &which);

    if (!at)
        return eval_constant(condition_trim(arena, text, strlen(text)), ret, err);
    const char *left = condition_trim(arena, text, (size_t)(at - text));
    const char *behind = at + strlen(OPERATORS[which]);
    const char *right = condition_trim(arena, behind, strlen(behind));
    if (object)
        left = json_path_print(arena, json_path_find_dotted(arena, left, object));
    *ret = left && condition_compare(left, OPERATORS[which], right);
    return 0;
}

/* Evaluates comparisons that are joined by any of the separators. */
static int eval_all(struct arena *arena, const char *text, const struct json *object,
                    const char *const *separators, size_t separator_count, bool *ret,
                    struct err *err)
{
    static const char *const refused[] = {"||", "=~", "!~"};
    bool all = true;
    size_t which;

    if (find_outside_quotes(text, refused, ARRAY_SIZE(refused), &which))
        return err_set(err, ERR_UNSUPPORTED, "'%s' is not supported in the condition '%.100s'",
                       refused[which], text);
    while (text) {
        const char *separator = find_outside_quotes(text, separators, separator_count, &which);
        size_t size = separator ? (size_t)(separator - text) : strlen(text);
        bool one = false;
        int result = eval_one(arena, arena_strndup(arena, text, size), object, &one, err);

        if (result < 0)
            return result;
        all = all && one;
        text = separator ? separator + strlen(separators[which]) : NULL;
    }
    *ret = all;
    return 0;
}

int workflow_condition_eval(struct arena *arena, const char *text, bool *ret, struct err *err)
{
    static const char *const separators[] = {"&&"};

    return eval_all(arena, text, NULL, separators, ARRAY_SIZE(separators), ret, err);
}

int workflow_condition_eval_object(struct arena *arena, const char *text, const struct json *object,
                                   bool *ret, struct err *err)
{
    static const char *const separators[] = {"&&", ","};

    return eval_all(arena, text, object, separators, ARRAY_SIZE(separators), ret, err);
}
