/* Checks the formats of strings; see format.h. A format has a regular expression or a function. */
#include "kube/schema/format.h"

#include "base/mem.h"
#include "base/pattern/pattern.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

static bool format_matches(const char *expression, const char *text)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct pattern *pattern;
    bool found = false;
    return pattern_compile(arena, expression, &pattern, NULL) == 0 &&
           pattern_find(pattern, text, strlen(text), &found, NULL) == 0 && found;
}

/* Returns the value of two decimal digits. */
static int format_two_digits(const char *digits)
{
    return (digits[0] - '0') * 10 + digits[1] - '0';
}

/* Returns whether the text begins with a valid date, "2020-02-29". */
static bool begins_with_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!format_matches("^[0-9]{4}-[0-9]{2}-[0-9]{2}", text))
        return false;
    int year = format_two_digits(text) * 100 + format_two_digits(text + 2),
        month = format_two_digits(text + 5), day = format_two_digits(text + 8);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

static bool is_date(const char *text)
{
    return strlen(text) == 10 && begins_with_date(text);
}

static bool is_date_time(const char *text)
{
    const char *time = text + 11;
    return begins_with_date(text) &&
           format_matches(
               "^.{10}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
               text) &&
           format_two_digits(time) <= 23 && format_two_digits(time + 3) <= 59 &&
           format_two_digits(time + 6) <= 59;
}

static bool is_ipv4(const char *text)
{
    struct in_addr address;
    return inet_pton(AF_INET, text, &address) == 1;
}

static bool is_ipv6(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_cidr(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    int64_t bits;
    if (!slash || (size_t)(slash - text) >= sizeof(address) || slash[1] == '+' || slash[1] == '-')
        return false;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    return str_to_int64(slash + 1, 0, 128, &bits, NULL) == 0 &&
           ((is_ipv4(address) && bits <= 32) || is_ipv6(address));
}

/* Returns whether the text is a URI as in an HTTP request line: absolute, or a path from the
 * root. */
static bool is_uri(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return false;
    if (text[0] == '/')
        return true;
    if (!format_matches("^[a-zA-Z][a-zA-Z0-9+.-]*:.", text))
        return false;
    const char *host = strstr(text, "://");
    const char *bracket = host ? strchr(host, '[') : NULL;
    return !bracket || strchr(bracket, ']');
}

/* Returns whether the text is an address "a@b", or a name followed by an address in angle
 * brackets. */
static bool is_email(const char *text)
{
    return format_matches("^([^<>]*<)?[^ <>@]+@[^ <>@]+>?$", text) &&
           (strchr(text, '<') != NULL) == (strchr(text, '>') != NULL);
}

/* Copies the digits without separators ('-' and space) and returns their number. 'X' is the digit
 * ten. Returns 0 if there are other characters or more than 19 digits. */
static size_t digits_of(const char *text, char digits[20])
{
    size_t count = 0;
    for (; *text; text++) {
        if (*text == '-' || *text == ' ')
            continue;
        if ((!isdigit((unsigned char)*text) && *text != 'X') || count == 19)
            return 0;
        digits[count++] = *text;
    }
    digits[count] = '\0';
    return count;
}

static bool is_isbn10(const char *text)
{
    char digits[20];
    int sum = 0;
    if (digits_of(text, digits) != 10 || (strchr(digits, 'X') && strchr(digits, 'X') != digits + 9))
        return false;
    for (int i = 0; i < 10; i++)
        sum += (i + 1) * (digits[i] == 'X' ? 10 : digits[i] - '0');
    return sum % 11 == 0;
}

static bool is_isbn13(const char *text)
{
    char digits[20];
    int sum = 0;
    if (digits_of(text, digits) != 13 || strchr(digits, 'X'))
        return false;
    for (int i = 0; i < 13; i++)
        sum += (digits[i] - '0') * (i % 2 ? 3 : 1);
    return sum % 10 == 0;
}

static bool is_isbn(const char *text)
{
    return is_isbn10(text) || is_isbn13(text);
}

static bool is_credit_card(const char *text)
{
    char digits[20];
    int sum = 0;
    size_t count = digits_of(text, digits);
    if (count < 12 || strchr(digits, 'X'))
        return false;
    for (size_t i = 0; i < count; i++) {
        int digit = (digits[count - 1 - i] - '0') * (i % 2 ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

#define HEX "[0-9a-fA-F]"
#define UUID(third_, fourth_)                                                                      \
    "^" HEX "{8}-?" HEX "{4}-?" third_ HEX "{3}-?" fourth_ HEX "{3}-?" HEX "{12}$"
#define BYTE "([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])"
#define UNIT                                                                                       \
    "(ns|nano(sec(ond)?)?s?|us|µs|micro(sec(ond)?)?s?|ms|milli(sec(ond)?)?s?|s|secs?|seconds?|"   \
    "m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)"

static const struct {
    const char *name;
    const char *expression; /* NULL: uses `check` */
    bool (*check)(const char *text);
} FORMATS[] = {
    {"bsonobjectid", "^" HEX "{24}$", NULL},
    {"byte", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", NULL},
    {"cidr", NULL, is_cidr},
    {"creditcard", NULL, is_credit_card},
    {"date", NULL, is_date},
    {"date-time", NULL, is_date_time},
    {"datetime", NULL, is_date_time},
    {"duration", "^[+-]?([0-9]+([.][0-9]*)? *" UNIT " *)+$", NULL},
    {"email", NULL, is_email},
    {"hexcolor", "^#?(" HEX "{3}|" HEX "{6})$", NULL},
    {"hostname",
     "^([a-zA-Z0-9](-?[a-zA-Z0-9]{0,62})?|([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?[.])+"
     "[a-zA-Z]{2,63})$",
     NULL},
    {"ipv4", NULL, is_ipv4},
    {"ipv6", NULL, is_ipv6},
    {"isbn", NULL, is_isbn},
    {"isbn10", NULL, is_isbn10},
    {"isbn13", NULL, is_isbn13},
    {"mac", "^" HEX "{2}((:" HEX "{2}){5}|(:" HEX "{2}){7}|(-" HEX "{2}){5}|(-" HEX "{2}){7})$",
     NULL},
    {"rgbcolor", "^rgb\\( *" BYTE " *, *" BYTE " *, *" BYTE " *\\)$", NULL},
    {"ssn", "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$", NULL},
    {"uri", NULL, is_uri},
    {"uuid", UUID(HEX, HEX), NULL},
    {"uuid3", UUID("3", HEX), NULL},
    {"uuid4", UUID("4", "[89abAB]"), NULL},
    {"uuid5", UUID("5", "[89abAB]"), NULL},
};

bool schema_format_matches(const char *format, const char *text)
{
    for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++)
        if (str_eq(FORMATS[i].name, format))
            return FORMATS[i].check ? FORMATS[i].check(text)
                                    : format_matches(FORMATS[i].expression, text);
    return true;
}
