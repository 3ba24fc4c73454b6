/* Base64 (RFC 4648), in two forms. Secrets and kubeconfig files use the form with padding. Tokens
 * use the URL-safe form without padding. All results are allocated in the arena. */
#ifndef TRAINYARD_BASE_BASE64_H
#define TRAINYARD_BASE_BASE64_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

char *base64_encode(struct arena *arena, const void *data, size_t size);

/* Decodes the padded form. White space is skipped. A NUL byte follows the result; *ret_size does
 * not count it. `ret_size` may be NULL. Returns 0, or -ERR_BAD_REQUEST if the text is not in this
 * form. */
int base64_decode(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                  struct err *err);

char *base64_encode_url(struct arena *arena, const void *data, size_t size);

/* Decodes the URL-safe form. Accepts only the canonical encoding: no white space, no padding, and
 * all unused bits are 0. `ret_size` must not be NULL. Returns 0, or -ERR_BAD_REQUEST if the text is
 * not in this form. */
int base64_decode_url(struct arena *arena, const char *text, char **ret, size_t *ret_size,
                      struct err *err);

#endif
