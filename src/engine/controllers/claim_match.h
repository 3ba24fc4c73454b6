/* Decides whether a volume fits a claim. Used by claim_binder.c only. Pure. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_CLAIM_MATCH_H
#define TRAINYARD_ENGINE_CONTROLLERS_CLAIM_MATCH_H

#include "base/json/json.h"

/* Returns why the volume's size, class or modes do not fit the claim, or NULL if they fit. */
const char *claim_mismatch(const struct json *claim, const struct json *volume);

#endif
