/* Base64 (RFC 4648), in two forms: with padding, as Secrets and kubeconfig files have it, and the
 * URL-safe form without padding, as tokens have it. All results are allocated in the arena. */
#ifndef TRAINYARD_BASE_BASE64_H
#define TRAINYARD_BASE_BASE64_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

char *base64_encode(struct arena *arena, const void *data, size_t size);

/* Decodes the padded form. White space is skipped. A NUL follows the last byte, which `ret_size`
 * does not count. Returns 0, or -ERR_BAD_REQUEST if the text is not base64. */
int base64_decode(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                  struct err *err);

char *base64_encode_url(struct arena *arena, const void *data, size_t size);

/* Decodes the URL-safe form. Accepts only the canonical encoding: no white space, no padding, no
 * unused bits that are set. Returns 0, or -ERR_BAD_REQUEST. */
int base64_decode_url(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                      struct err *err);

#endif
