/* Reads the clocks, and formats and parses times; see moment.h. */
#include "base/moment.h"

#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t moment_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t moment_monotonic_ms(void)
{
    return moment_monotonic_ns() / 1000000;
}

int64_t moment_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The range of RFC 3339: from the start of the year 0 to the end of the year 9999. */
static const int64_t FIRST_MS = -62167219200000, LAST_MS = 253402300799999;

/* The longest duration that is accepted. A double represents it exactly. */
static const double DURATION_MAX_MS = 9e15;

/* Divides and rounds down, also for negative values. */
static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

void moment_format(int64_t wall_ms, char text[MOMENT_TEXT_MAX])
{
    time_t seconds = (time_t)floor_div(wall_ms, 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    /* strftime() writes the year 1, which is Go's zero time, with one digit. */
    size_t year = (size_t)snprintf(text, MOMENT_TEXT_MAX, "%04d", parts.tm_year + 1900);
    strftime(text + year, MOMENT_TEXT_MAX - year, "-%m-%dT%H:%M:%SZ", &parts);
}

void moment_format_micro(int64_t wall_us, char text[MOMENT_TEXT_MAX])
{
    int64_t seconds = floor_div(wall_us, 1000000);
    moment_format(seconds * 1000, text);
    size_t end = strlen(text) - 1; /* overwrites the Z */
    snprintf(text + end, MOMENT_TEXT_MAX - end, ".%06dZ", (int)(wall_us - seconds * 1000000));
}

/* Parses exactly `count` digits. Returns -1 if one is missing. */
static int moment_digits(const char **text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (!isdigit((unsigned char)**text))
            return -1;
        value = value * 10 + (**text - '0');
    }
    return value;
}

/* If the next character is in `any`, moves after it and returns it. Otherwise returns -1. */
static int moment_expect(const char **text, const char *any)
{
    if (**text == '\0' || !strchr(any, **text))
        return -1;
    return *(*text)++;
}

/* Parses an optional fraction of a second. Returns milliseconds, or -1 if no digit follows the
 * point. */
static int parse_fraction_ms(const char **text)
{
    if (**text != '.')
        return 0;
    (*text)++;
    int value = 0, scale = 100, count = 0;
    for (; isdigit((unsigned char)**text); (*text)++, count++) {
        value += (**text - '0') * scale;
        scale /= 10;
    }
    return count ? value : -1;
}

/* Parses the offset from UTC. Returns it in minutes, or BAD if it is invalid. */
static int parse_offset(const char **text)
{
    enum { BAD = 100000 };
    int sign = moment_expect(text, "Zz+-");
    if (sign < 0)
        return BAD;
    if (sign == 'Z' || sign == 'z')
        return 0;
    int hours = moment_digits(text, 2);
    if (hours < 0 || moment_expect(text, ":") < 0)
        return BAD;
    int minutes = moment_digits(text, 2);
    if (minutes < 0 || minutes > 59 || hours > 23)
        return BAD;
    return (hours * 60 + minutes) * (sign == '-' ? -1 : 1);
}

static int days_in(int year, int month)
{
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return DAYS[month - 1] + (month == 2 && leap);
}

int moment_parse(const char *text, int64_t *ret_wall_ms, struct err *err)
{
    const char *at = text;
    int year = moment_digits(&at, 4), dash1 = moment_expect(&at, "-");
    int month = dash1 < 0 ? -1 : moment_digits(&at, 2),
        dash2 = month < 0 ? -1 : moment_expect(&at, "-");
    int day = dash2 < 0 ? -1 : moment_digits(&at, 2), t = day < 0 ? -1 : moment_expect(&at, "Tt ");
    int hour = t < 0 ? -1 : moment_digits(&at, 2), colon1 = hour < 0 ? -1 : moment_expect(&at, ":");
    int minute = colon1 < 0 ? -1 : moment_digits(&at, 2),
        colon2 = minute < 0 ? -1 : moment_expect(&at, ":");
    int second = colon2 < 0 ? -1 : moment_digits(&at, 2);
    int fraction = second < 0 ? -1 : parse_fraction_ms(&at);
    int offset = fraction < 0 ? 100000 : parse_offset(&at);
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour > 23 ||
        minute > 59 || second > 60 || offset > 1440 || *at != '\0')
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' is not a time in RFC 3339 format, such as 2026-11-15T02:00:00Z", text);
    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute,
                       .tm_sec = second};
    int64_t wall_ms = ((int64_t)timegm(&parts) - (int64_t)offset * 60) * 1000 + fraction;
    if (wall_ms < FIRST_MS || wall_ms > LAST_MS)
        return err_set(err, ERR_BAD_REQUEST,
                       "'%s' is out of range: the year in UTC must be from 0000 to 9999", text);
    *ret_wall_ms = wall_ms;
    return 0;
}

int64_t moment_after(int64_t wall_ms, int64_t seconds)
{
    return seconds < (LAST_MS - wall_ms) / 1000 ? wall_ms + seconds * 1000 : LAST_MS;
}

void moment_format_age(int64_t age_ms, char text[MOMENT_TEXT_MAX])
{
    int64_t seconds = age_ms < 0 ? 0 : age_ms / 1000;
    int64_t minutes = seconds / 60, hours = seconds / 3600, days = hours / 24;
    if (seconds < 120)
        snprintf(text, MOMENT_TEXT_MAX, "%ds", (int)seconds);
    else if (minutes < 10 && seconds % 60)
        snprintf(text, MOMENT_TEXT_MAX, "%dm%ds", (int)minutes, (int)(seconds % 60));
    else if (hours < 3)
        snprintf(text, MOMENT_TEXT_MAX, "%dm", (int)minutes);
    else if (hours < 8 && minutes % 60)
        snprintf(text, MOMENT_TEXT_MAX, "%dh%dm", (int)hours, (int)(minutes % 60));
    else if (hours < 48)
        snprintf(text, MOMENT_TEXT_MAX, "%dh", (int)hours);
    else if (days < 8 && hours % 24)
        snprintf(text, MOMENT_TEXT_MAX, "%dd%dh", (int)days, (int)(hours % 24));
    else if (days < 2 * 365)
        snprintf(text, MOMENT_TEXT_MAX, "%dd", (int)days);
    else if (days < 8 * 365 && days % 365)
        snprintf(text, MOMENT_TEXT_MAX, "%dy%dd", (int)(days / 365), (int)(days % 365));
    else
        snprintf(text, MOMENT_TEXT_MAX, "%lldy", (long long)(days / 365));
}

/* Parses a decimal number such as 1.5, without sign or exponent. Returns NAN if there is no
 * number. */
static double parse_decimal(const char **text)
{
    double value = 0, scale = 1;
    bool any = false, fraction = false;
    for (;; (*text)++) {
        if (**text == '.' && !fraction) {
            fraction = true;
        } else if (isdigit((unsigned char)**text)) {
            value = value * 10 + (**text - '0');
            scale *= fraction ? 10 : 1;
            any = true;
        } else {
            return any ? value / scale : NAN;
        }
    }
}

int moment_parse_duration(const char *text, int64_t *ret_ms, struct err *err)
{
    static const struct {
        const char *unit;
        double ms;
    } UNITS[] = {{"ms", 1},     {"us", 1e-3}, {"µs", 1e-3}, {"ns", 1e-6},
                 {"h", 3600e3}, {"m", 60e3},  {"s", 1e3}};
    const char *at = text;
    double total = 0;
    while (strcmp(text, "0") != 0) { /* 0 is the only number without a unit */
        double value = parse_decimal(&at);
        size_t unit = 0, count = ARRAY_SIZE(UNITS);
        while (unit < count && strncmp(at, UNITS[unit].unit, strlen(UNITS[unit].unit)) != 0)
            unit++;
        if (isnan(value) || unit == count)
            return err_set(err, ERR_BAD_REQUEST,
                           "'%s' is not a duration, such as 90s, 1m30s or 500ms", text);
        if (total + value * UNITS[unit].ms > DURATION_MAX_MS)
            return err_set(err, ERR_BAD_REQUEST, "the duration '%s' is too long", text);
        total += value * UNITS[unit].ms;
        at += strlen(UNITS[unit].unit);
        if (*at == '\0')
            break;
    }
    *ret_ms = (int64_t)(total + 0.5);
    return 0;
}
