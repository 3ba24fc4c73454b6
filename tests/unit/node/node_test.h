/* Shared by the tests of this module: cmocka's headers in the required order, and JSON from
 * single-quoted text. */
#ifndef TRAINYARD_TESTS_UNIT_NODE_NODE_TEST_H
#define TRAINYARD_TESTS_UNIT_NODE_NODE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

#include <stdio.h>
#include <string.h>

#endif
