/* Parses, formats and adds quantities; see quantity.h. A value is a number of billionths in 128
 * bits. The range of int64 times a billion needs only 94 bits, so a sum cannot overflow before it
 * is limited to that range. */
#include "kube/quantity.h"

#include "base/json/json.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { DIGITS_MAX = 64, TEXT_MAX = 128, EXPONENT_MAX = 999 };

#define NANO       ((wide)1000000000)
#define VALUE_MAX_ ((wide)INT64_MAX * NANO)

static const struct suffix {
    const char *text;
    int base;     /* 10 or 2 */
    int exponent; /* exponent of the base */
    enum kube_quantity_form form;
} SUFFIXES[] = {
    {"n", 10, -9, KUBE_QUANTITY_DECIMAL}, {"u", 10, -6, KUBE_QUANTITY_DECIMAL},
    {"m", 10, -3, KUBE_QUANTITY_DECIMAL}, {"", 10, 0, KUBE_QUANTITY_DECIMAL},
    {"k", 10, 3, KUBE_QUANTITY_DECIMAL},  {"M", 10, 6, KUBE_QUANTITY_DECIMAL},
    {"G", 10, 9, KUBE_QUANTITY_DECIMAL},  {"T", 10, 12, KUBE_QUANTITY_DECIMAL},
    {"P", 10, 15, KUBE_QUANTITY_DECIMAL}, {"E", 10, 18, KUBE_QUANTITY_DECIMAL},
    {"Ki", 2, 10, KUBE_QUANTITY_BINARY},  {"Mi", 2, 20, KUBE_QUANTITY_BINARY},
    {"Gi", 2, 30, KUBE_QUANTITY_BINARY},  {"Ti", 2, 40, KUBE_QUANTITY_BINARY},
    {"Pi", 2, 50, KUBE_QUANTITY_BINARY},  {"Ei", 2, 60, KUBE_QUANTITY_BINARY},
};

static wide quantity_clamp(wide nano)
{
    return nano > VALUE_MAX_ ? VALUE_MAX_ : nano < -VALUE_MAX_ ? -VALUE_MAX_ : nano;
}

static int quantity_refuse(const char *text, struct err *err)
{
    return err_set(err, ERR_INVALID,
                   "'%.64s' is not a quantity: write digits, an optional fraction, and optionally "
                   "one of m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent like e3",
                   text);
}

/* Parses the suffix or exponent after the digits. Returns 0, or -1 if it is invalid. */
static int parse_suffix(const char *text, struct suffix *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(SUFFIXES); i++) {
        if (strcmp(SUFFIXES[i].text, text) == 0) {
            *ret = SUFFIXES[i];
            return 0;
        }
    }
    if (*text != 'e' && *text != 'E')
        return -1;
    bool negative = text[1] == '-';
    const char *digit = text + (text[1] == '-' || text[1] == '+' ? 2 : 1);
    if (*digit == '\0')
        return -1;
    int exponent = 0;
    for (; *digit; digit++) {
        if (!isdigit((unsigned char)*digit))
            return -1;
        if (exponent <= EXPONENT_MAX)
            exponent = exponent * 10 + (*digit - '0');
    }
    *ret = (struct suffix){
        .base = 10, .exponent = negative ? -exponent : exponent, .form = KUBE_QUANTITY_EXPONENT};
    return 0;
}

/* Returns digits × 10^exponent, rounded up and limited. The caller has added 9 to the exponent, so
 * that the result is a number of billionths. Digits are added one by one, so that a long number
 * cannot overflow. */
static wide scale_decimal(const char *digits, size_t count, int exponent)
{
    wide value = 0;
    bool lost = false;
    for (size_t i = 0; i < count; i++) {
        /* The digit's power of ten; negative powers are below a billionth. */
        int power = (int)(count - 1 - i) + exponent;
        if (power >= 0 && value <= VALUE_MAX_)
            value = value * 10 + (digits[i] - '0');
        else if (power < 0)
            lost = lost || digits[i] != '0';
    }
    for (int zeros = exponent; zeros > 0 && value && value <= VALUE_MAX_; zeros--)
        value *= 10;
    return quantity_clamp(value + lost);
}

/* Returns number × 2^exponent as a number of billionths, rounded up and limited. The last
 * `fraction` digits of the number are its fraction. The fraction is multiplied digit by digit from
 * the last digit, so that a long fraction cannot overflow. */
static wide scale_binary(const char *digits, size_t count, size_t fraction, int exponent)
{
    wide scale = (wide)1 << exponent, whole = 0, part = 0;
    bool lost = false;
    size_t whole_count = count - fraction;
    for (size_t i = 0; i < whole_count && whole <= INT64_MAX; i++)
        whole = whole * 10 + (digits[i] - '0');
    for (size_t i = count; i > whole_count; i--) {
        part += scale * NANO * (digits[i - 1] - '0');
        lost = lost || part % 10 != 0;
        part /= 10;
    }
    if (whole > INT64_MAX / scale)
        return VALUE_MAX_;
    return quantity_clamp(whole * scale * NANO + part + lost);
}

int kube_quantity_parse(const char *text, struct kube_quantity *ret, struct err *err)
{
    if (!text || strlen(text) > TEXT_MAX)
        return quantity_refuse(text ? text : "", err);
    const char *at = text;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    char digits[TEXT_MAX + 1];
    size_t count = 0, fraction = 0;
    bool point = false;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
        } else {
            digits[count++] = *at;
            fraction += point;
        }
    }
    struct suffix suffix;
    if (count == 0 || parse_suffix(at, &suffix) < 0)
        return quantity_refuse(text, err);
    wide nano = suffix.base == 2
                    ? scale_binary(digits, count, fraction, suffix.exponent)
                    : scale_decimal(digits, count, 9 + suffix.exponent - (int)fraction);
    *ret = (struct kube_quantity){.nano = negative ? -nano : nano, .form = suffix.form};
    return 0;
}

int kube_quantity_from_json(const struct json *value, struct kube_quantity *ret, struct err *err)
{
    if (!value || value->type == JSON_NULL) {
        *ret = (struct kube_quantity){0};
        return 0;
    }
    if (value->type == JSON_STRING || value->type == JSON_REAL)
        return kube_quantity_parse(value->text, ret, err);
    if (value->type == JSON_INT) {
        *ret = (struct kube_quantity){.nano = quantity_clamp((wide)value->integer * NANO)};
        return 0;
    }
    return err_set(err, ERR_INVALID, "a quantity must be a string or a number, not %s",
                   json_type_name(value->type));
}

/* Writes the number backwards, ending at `end`. Returns its first character. The value is at most
 * 2^63 × 10^9, which has 28 digits. */
static char *print_wide(wide value, char *end)
{
    bool negative = value < 0;
    *--end = '\0';
    do {
        int digit = (int)(value % 10);
        *--end = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value);
    if (negative)
        *--end = '-';
    return end;
}

static void format_as(wide number, const char *suffix, char text[KUBE_QUANTITY_TEXT_MAX])
{
    char digits[DIGITS_MAX];
    snprintf(text, KUBE_QUANTITY_TEXT_MAX, "%s%s", print_wide(number, digits + sizeof(digits)),
             suffix);
}

static bool format_binary(wide nano, char text[KUBE_QUANTITY_TEXT_MAX])
{
    /* Amounts below 1024 and fractions are written in decimal form, which is exact. */
    if ((nano > -1024 * NANO && nano < 1024 * NANO) || nano % NANO)
        return false;
    wide number = nano / NANO;
    const char *suffix = "";
    for (size_t i = 0; i < ARRAY_SIZE(SUFFIXES); i++) {
        if (SUFFIXES[i].base != 2 || number % 1024)
            continue;
        number /= 1024;
        suffix = SUFFIXES[i].text;
    }
    format_as(number, suffix, text);
    return true;
}

void kube_quantity_format(const struct kube_quantity *quantity, char text[KUBE_QUANTITY_TEXT_MAX])
{
    wide number = quantity->nano;
    if (number == 0) {
        format_as(0, "", text);
        return;
    }
    if (quantity->form == KUBE_QUANTITY_BINARY && format_binary(number, text))
        return;
    int exponent = -9;
    while (exponent < 18 && number % 1000 == 0) {
        number /= 1000;
        exponent += 3;
    }
    char suffix[16] = "";
    if (quantity->form == KUBE_QUANTITY_EXPONENT) {
        if (exponent)
            snprintf(suffix, sizeof(suffix), "e%d", exponent);
    } else {
        for (size_t i = 0; i < ARRAY_SIZE(SUFFIXES); i++)
            if (SUFFIXES[i].base == 10 && SUFFIXES[i].exponent == exponent)
                snprintf(suffix, sizeof(suffix), "%s", SUFFIXES[i].text);
    }
    format_as(number, suffix, text);
}

int kube_quantity_compare(const struct kube_quantity *a, const struct kube_quantity *b)
{
    return (a->nano > b->nano) - (a->nano < b->nano);
}

void kube_quantity_add(struct kube_quantity *sum, const struct kube_quantity *b)
{
    /* Zero takes the form of the other operand: 0 plus "1Gi" is "1Gi". */
    if (sum->nano == 0)
        sum->form = b->form;
    sum->nano = quantity_clamp(sum->nano + b->nano);
}

/* Returns nano / unit, rounded away from zero as in Kubernetes. */
static int64_t divide_away_from_zero(wide nano, wide unit)
{
    wide result = nano / unit;
    if (nano % unit)
        result += nano > 0 ? 1 : -1;
    return result > INT64_MAX ? INT64_MAX : result < INT64_MIN ? INT64_MIN : (int64_t)result;
}

int64_t kube_quantity_value(const struct kube_quantity *quantity)
{
    return divide_away_from_zero(quantity->nano, NANO);
}

int64_t kube_quantity_milli(const struct kube_quantity *quantity)
{
    return divide_away_from_zero(quantity->nano, NANO / 1000);
}
