#include "tools/argument_check.hpp"

#include <doctest/doctest.h>
