// Expressions that must throw an Error of one text.
#pragma once

#include <gtest/gtest.h>

#include "tests/error_of.h"

#define EXPECT_REFUSED(expression, line) EXPECT_EQ(error_of([&] { (void)(expression); }), line)
