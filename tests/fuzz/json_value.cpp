// The equality of JSON values by which rules decide. Input: a line with one value, then another.

#include "base/json_value.hpp"

#include "base/json_scan.hpp"
#include "base/raw_json.hpp"
#include "fuzzing.hpp"

using namespace cellgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    try {
        const RawJson first = RawJson::parse(input.line());
        const RawJson second = RawJson::parse(input.rest());
        const JsonValue a = parse_json_value(first.text());
        const JsonValue b = parse_json_value(second.text());
        fuzz::require(a.text == trim_json(first.text()), "the whole text is taken apart");
        fuzz::require(compare(a, b) == compare(b, a), "the order of the two does not matter");
        fuzz::require(compare(a, a) == (is_comparable(a) ? Equality::equal : Equality::unclear),
                      "a value equals itself, unless a number in it cannot be compared");
        fuzz::require(first.text() != second.text() || compare(a, b) != Equality::different,
                      "the same bytes are never different");
        for (const JsonValue::Member& member : a.members) {
            if (member.name.find_first_of("~/") == std::string::npos) {
                fuzz::require(find_pointer(first.text(), "/" + member.name) == member.value.text,
                              "a pointer finds what the value has");
            }
        }
    } catch (const Error& error) {
        fuzz::require(error.code == ErrorCode::parse_error, "only what is no JSON is an error");
    }
    return 0;
}
