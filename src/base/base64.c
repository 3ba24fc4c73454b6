/* Encodes and decodes base64; see base64.h. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(struct arena *arena, const void *data, size_t size)
{
    const uint8_t *in = data;
    char *text = arena_alloc(arena, (size + 2) / 3 * 4 + 1);
    char *out = text;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)in[i] << 16;
        group |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        group |= left > 2 ? in[i + 2] : 0;
        *out++ = ALPHABET[group >> 18];
        *out++ = ALPHABET[group >> 12 & 63];
        *out++ = left > 1 ? ALPHABET[group >> 6 & 63] : '=';
        *out++ = left > 2 ? ALPHABET[group & 63] : '=';
    }
    *out = '\0';
    return text;
}

int base64_decode(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                  struct err *err)
{
    char *data = arena_alloc(arena, strlen(text) / 4 * 3 + 4);
    size_t size = 0, letters = 0, padding = 0;
    uint32_t group = 0;
    for (const char *c = text; *c; c++) {
        if (strchr(" \t\r\n", *c))
            continue;
        const char *found = strchr(ALPHABET, *c);
        if (*c == '=')
            padding++;
        else if (!found || padding)
            return err_set(err, ERR_BAD_REQUEST,
                           "invalid base64: unexpected character at byte %zu: '%c'",
                           (size_t)(c - text) + 1, *c);
        group = group << 6 | (found ? (uint32_t)(found - ALPHABET) : 0);
        if (++letters % 4)
            continue;
        data[size++] = (char)(group >> 16 & 255);
        data[size++] = (char)(group >> 8 & 255);
        data[size++] = (char)(group & 255);
    }
    if (padding > 2)
        return err_set(err, ERR_BAD_REQUEST, "invalid base64: more than two '=' at the end");
    if (letters % 4)
        return err_set(err, ERR_BAD_REQUEST,
                       "invalid base64: %zu characters, but the number must be a multiple of 4",
                       letters);
    size -= padding;
    data[size] = '\0';
    *ret = data;
    if (ret_size)
        *ret_size = size;
    return 0;
}

/* Translates between the two alphabets, which differ in their last two characters. */
static void base64_translate(char *text, const char *from, const char *to)
{
    for (; *text; text++)
        for (size_t i = 0; from[i]; i++)
            if (*text == from[i]) {
                *text = to[i];
                break;
            }
}

char *base64_encode_url(struct arena *arena, const void *data, size_t size)
{
    char *text = base64_encode(arena, data, size);
    text[strcspn(text, "=")] = '\0';
    base64_translate(text, "+/", "-_");
    return text;
}

int base64_decode_url(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                      struct err *err)
{
    static const char *const padding[] = {"", "===", "==", "="};
    size_t size = 0;
    char *data, *standard = arena_printf(arena, "%s%s", text, padding[strlen(text) % 4]);
    base64_translate(standard, "-_", "+/");
    int result = base64_decode(arena, standard, &data, &size, err);
    if (result < 0)
        return result;
    /* Accept only the canonical text, because a token must have exactly one valid form. */
    if (strcmp(base64_encode_url(arena, data, size), text) != 0)
        return err_set(err, ERR_BAD_REQUEST, "invalid base64url");
    *ret = data;
    *ret_size = size;
    return 0;
}
