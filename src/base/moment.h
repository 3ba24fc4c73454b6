/* Points in time and their text form. Pure functions read no clock, but take the current time
 * as a parameter `now`. All times are in milliseconds unless their name gives another
 * unit. Monotonic time is for waiting. Unix wall time is for times that are stored or shown. */
#ifndef TRAINYARD_BASE_MOMENT_H
#define TRAINYARD_BASE_MOMENT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

int64_t moment_monotonic_ns(void);
int64_t moment_monotonic_ms(void);
int64_t moment_wall_ms(void);

enum { MOMENT_TEXT_MAX = 40 };

/* Writes "2026-11-15T02:00:00Z", or with microseconds "2026-11-15T02:00:00.123456Z". */
void moment_format(int64_t wall_ms, char text[MOMENT_TEXT_MAX]);
void moment_format_micro(int64_t wall_us, char text[MOMENT_TEXT_MAX]);

/* Parses RFC 3339 with or without a fraction and with any offset. Digits beyond milliseconds are
 * cut off. Returns 0, or -ERR_BAD_REQUEST if the text is no such time, or if its year in UTC is not
 * in 0000 to 9999. */
int moment_parse(const char *text, int64_t *ret_wall_ms, struct err *err);

/* Returns the time `seconds` (0 or more) after `wall_ms`. A result after the year 9999 becomes the
 * end of that year, because RFC 3339 has no later times and API objects may contain any number of
 * seconds. */
int64_t moment_after(int64_t wall_ms, int64_t seconds);

/* Writes an age as kubectl does: "5s", "3m12s", "5h", "2d3h", "3y40d". If it is negative: "0s". */
void moment_format_age(int64_t age_ms, char text[MOMENT_TEXT_MAX]);

/* Parses a duration in Go's format ("1m30s", "500ms", "1.5h", "0"), rounded to milliseconds.
 * Returns 0, or -ERR_BAD_REQUEST if the text is no such duration, or is negative or too long. */
int moment_parse_duration(const char *text, int64_t *ret_ms, struct err *err);

#endif
