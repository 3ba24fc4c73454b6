/* Which volumes suit a claim; what claim_binder.c asks besides claim_prefers(). */
#ifndef TRAINYARD_ENGINE_CLAIM_MATCH_H
#define TRAINYARD_ENGINE_CLAIM_MATCH_H

#include "base/json/json.h"

/* Why the claim cannot have the volume, whoever names it; NULL: it can. */
const char *claim_mismatch(const struct json *claim, const struct json *volume);

#endif
