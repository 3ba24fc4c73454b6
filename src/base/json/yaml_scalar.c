/* Resolves unquoted YAML scalars; see yaml_scalar.h. The rules are the same as in kubectl: `yes`,
 * `no`, `on`, `off`, `y` and `n` are booleans, a leading 0 means octal unless an 8 or 9 follows,
 * underscores in numbers are skipped, numbers in base 60 are not supported, and a time is a
 * string. */
#include "base/json/yaml_scalar.h"

#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum word { WORD_TRUE, WORD_FALSE, WORD_NULL, WORD_NO_JSON };

static const struct {
    const char *text;
    enum word word;
} WORDS[] = {
    {"y", WORD_TRUE},        {"Y", WORD_TRUE},        {"yes", WORD_TRUE},
    {"Yes", WORD_TRUE},      {"YES", WORD_TRUE},      {"true", WORD_TRUE},
    {"True", WORD_TRUE},     {"TRUE", WORD_TRUE},     {"on", WORD_TRUE},
    {"On", WORD_TRUE},       {"ON", WORD_TRUE},       {"n", WORD_FALSE},
    {"N", WORD_FALSE},       {"no", WORD_FALSE},      {"No", WORD_FALSE},
    {"NO", WORD_FALSE},      {"false", WORD_FALSE},   {"False", WORD_FALSE},
    {"FALSE", WORD_FALSE},   {"off", WORD_FALSE},     {"Off", WORD_FALSE},
    {"OFF", WORD_FALSE},     {"", WORD_NULL},         {"~", WORD_NULL},
    {"null", WORD_NULL},     {"Null", WORD_NULL},     {"NULL", WORD_NULL},
    {".nan", WORD_NO_JSON},  {".NaN", WORD_NO_JSON},  {".NAN", WORD_NO_JSON},
    {".inf", WORD_NO_JSON},  {".Inf", WORD_NO_JSON},  {".INF", WORD_NO_JSON},
    {"+.inf", WORD_NO_JSON}, {"+.Inf", WORD_NO_JSON}, {"+.INF", WORD_NO_JSON},
    {"-.inf", WORD_NO_JSON}, {"-.Inf", WORD_NO_JSON}, {"-.INF", WORD_NO_JSON},
};

enum { WORD_SIZE_MAX = 5 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* Returns whether the text matches [-+]? ( .digits | digits [.digits?] ) [ (e|E) [-+]? digits ]. */
static bool is_float(const char *at)
{
    at += *at == '-' || *at == '+';
    if (*at == '.') {
        if (!is_digit(at[1]))
            return false;
        at = skip_digits(at + 1);
    } else {
        if (!is_digit(*at))
            return false;
        at = skip_digits(at);
        if (*at == '.')
            at = skip_digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        if (!is_digit(*at))
            return false;
        at = skip_digits(at);
    }
    return *at == '\0';
}

/* Returns whether this text, for which is_float() is true, is also a JSON number. */
static bool is_json_number(const char *at)
{
    at += *at == '-';
    if (!is_digit(*at) || (*at == '0' && is_digit(at[1])))
        return false;
    const char *point = skip_digits(at);
    return *point != '.' || is_digit(point[1]);
}

/* Parses a whole number with an optional base prefix. */
static bool parse_whole(const char *text, bool *ret_negative, uint64_t *ret)
{
    const char *at = text;
    *ret_negative = *at == '-';
    at += *at == '-' || *at == '+';
    unsigned base = 10;
    if (at[0] == '0' && at[1]) {
        char mark = at[1] | 0x20;
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        at += mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1;
    }
    if (*at == '\0')
        return false;
    uint64_t value = 0;
    for (; *at; at++) {
        unsigned digit = is_digit(*at) ? (unsigned)(*at - '0')
                         : (*at | 0x20) >= 'a' && (*at | 0x20) <= 'f'
                             ? (unsigned)((*at | 0x20) - 'a' + 10)
                             : 99;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

static void set_text(struct json *json, enum json_type type, const char *text, size_t size)
{
    json->type = type;
    json->text = text;
    json->size = size;
}

static bool resolve_whole(struct arena *arena, const char *plain, struct json *json)
{
    bool negative;
    uint64_t value;
    if (!parse_whole(plain, &negative, &value) || (negative && value > UINT64_C(1) << 63))
        return false;
    if (negative || value <= INT64_MAX) {
        json->type = JSON_INT;
        json->integer = (int64_t)(negative ? 0 - value : value);
    } else {
        const char *text = arena_printf(arena, "%llu", (unsigned long long)value);
        set_text(json, JSON_REAL, text, strlen(text));
    }
    return true;
}

static bool resolve_float(struct arena *arena, const char *plain, struct json *json)
{
    if (!is_float(plain))
        return false;
    double value = strtod(plain, NULL);
    if (!isfinite(value))
        return false;
    /* 1.0 and 1e3 become integers, as kubectl sends them: `replicas: 2.0` is 2. */
    if (value == trunc(value) && fabs(value) <= 0x1p53) {
        json->type = JSON_INT;
        json->integer = (int64_t)value;
        return true;
    }
    if (is_json_number(plain)) {
        set_text(json, JSON_REAL, plain, strlen(plain));
    } else {
        const struct json *real = json_real(arena, value);
        set_text(json, JSON_REAL, real->text, real->size);
    }
    return true;
}

static char *without_underscores(struct arena *arena, const char *text, size_t size)
{
    char *plain = arena_alloc(arena, size + 1), *out = plain;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '_')
            *out++ = text[i];
    *out = '\0';
    return plain;
}

int yaml_scalar_resolve(struct arena *arena, const char *text, size_t size, struct json *json,
                        struct err *err)
{
    for (size_t i = 0; size <= WORD_SIZE_MAX && i < ARRAY_SIZE(WORDS); i++) {
        if (strlen(WORDS[i].text) != size || memcmp(WORDS[i].text, text, size) != 0)
            continue;
        if (WORDS[i].word == WORD_NO_JSON)
            return err_set(err, ERR_BAD_REQUEST,
                           "JSON has no number '%s': quote it if a string is meant", WORDS[i].text);
        json->type = WORDS[i].word == WORD_NULL ? JSON_NULL : JSON_BOOL;
        json->boolean = WORDS[i].word == WORD_TRUE;
        return 0;
    }
    if (size && (is_digit(text[0]) || strchr("+-.", text[0]))) {
        const char *plain = without_underscores(arena, text, size);
        if ((text[0] != '.' && resolve_whole(arena, plain, json)) ||
            resolve_float(arena, plain, json))
            return 0;
    }
    set_text(json, JSON_STRING, arena_strndup(arena, text, size), size);
    return 0;
}
