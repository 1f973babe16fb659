#include "base/json_value.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

namespace {

Equality equality(std::string_view a, std::string_view b) {
    const Equality found = compare(parse_json_value(a), parse_json_value(b));
    CHECK(compare(parse_json_value(b), parse_json_value(a)) == found);
    return found;
}

} // namespace

TEST_CASE("numbers are compared as they are written") {
    const auto order = [](const char* a, const char* b) { return Decimal(a).compare(Decimal(b)); };
    CHECK(order("1", "1.000") == 0);
    CHECK(order("-0", "0e5") == 0);
    CHECK(order("1e3", "1000") == 0);
    CHECK(order("0.1", "0.10000000000000000001") < 0);
    CHECK(order("-2", "-1") < 0);
    CHECK(order("-1", "1") < 0);
    CHECK(order("0", "-1") > 0);
    CHECK(order("0", "1e-999999") < 0);
    CHECK(order("99999999999999999999999", "99999999999999999999998") > 0);
    CHECK(order("1e99999999999999999999", "1") > 0);
    CHECK(order("1e-99999999999999999999", "1") < 0);
    CHECK(Decimal("12.50e1").is_integer());
    CHECK_FALSE(Decimal("12.5").is_integer());
}

TEST_CASE("a number whose exponent is clamped is not exact") {
    CHECK(Decimal("1e999999").is_exact());
    CHECK_FALSE(Decimal("1e1000000").is_exact());
    CHECK_FALSE(Decimal("-1e-99999999999999999999").is_exact());
    CHECK(Decimal("0e99999999999999999999").is_exact());
    CHECK_FALSE(is_comparable(parse_json_value(R"({"a":[1,{"b":1e1000000}]})")));
    CHECK(is_comparable(parse_json_value(R"({"a":[1,{"b":"1e1000000"}]})")));
}

TEST_CASE("values are equal by what they mean") {
    CHECK(equality("1", "10e-1") == Equality::equal);
    CHECK(equality(R"({"a":1,"b":[true,null]})", R"( { "b" : [true , null], "a":1.0 } )") == Equality::equal);
    CHECK(equality(R"("\u0061/")", R"("a\/")") == Equality::equal);
    CHECK(equality("[1,2]", "[2,1]") == Equality::different);
    CHECK(equality("[1]", "[1,1]") == Equality::different);
    CHECK(equality(R"({"a":1})", R"({"b":1})") == Equality::different);
    CHECK(equality("true", "false") == Equality::different);
    CHECK(equality("null", "0") == Equality::different);
    CHECK(equality("1", R"("1")") == Equality::different);
}

TEST_CASE("numbers that readers round to one double are neither equal nor different") {
    CHECK(equality("9007199254740992", "9007199254740993") == Equality::unclear);
    CHECK(equality(R"({"a":[0.1]})", R"({"a":[0.10000000000000000001]})") == Equality::unclear);
    CHECK(equality("1e99999999999999999999", "1e99999999999999999998") == Equality::unclear);
    CHECK(equality("[9007199254740992,1]", "[9007199254740993,2]") == Equality::different);
}

TEST_CASE("a pointer finds what it names") {
    constexpr std::string_view json = R"({"a":{"b/c":[1,"two"]},"~":3,"":4})";
    CHECK(find_pointer(json, "") == json);
    CHECK(find_pointer(json, "/a/b~1c/1") == R"("two")");
    CHECK(find_pointer(json, "/~0") == "3");
    CHECK(find_pointer(json, "/") == "4");
    CHECK_FALSE(find_pointer(json, "/a/b~1c/01"));
    CHECK_FALSE(find_pointer(json, "/a/b~1c/-"));
    CHECK_FALSE(find_pointer(json, "/a/b~1c/2"));
    CHECK_FALSE(find_pointer(json, "/~0/x"));
    CHECK(is_pointer("/a~0b~1"));
    CHECK_FALSE(is_pointer("a"));
    CHECK_FALSE(is_pointer("/a~"));
    CHECK_FALSE(is_pointer("/a~2"));
}
