// The strict JSON check beside nlohmann's: what it lets pass, the other reads too, with the same values.

#include "base/json.hpp"
#include "base/raw_json.hpp"
#include "fuzzing.hpp"

#include <set>
#include <string>

using namespace cellgate;
using cellgate::fuzz::require;

namespace {

void compare(std::string_view text, const Json& value) {
    require(json_type(text) == std::string_view(value.is_boolean() ? "boolean" : value.type_name()), "the same type");
    if (value.is_string()) {
        require(decode_json_string(text) == value.get<std::string>(), "the same text");
        std::string again;
        append_json_string(again, value.get<std::string>());
        require(!check_json(again) && decode_json_string(again) == value.get<std::string>(), "text survives writing");
    } else if (value.is_array()) {
        const auto elements = json_elements(text);
        require(elements.size() == value.size(), "as many elements");
        for (std::size_t i = 0; i < elements.size(); ++i) {
            compare(elements[i], value[i]);
        }
    } else if (value.is_object()) {
        const auto members = json_members(text);
        require(members.size() == value.size(), "as many members");
        for (const auto& [key, member] : members) {
            require(value.contains(key), "the same keys");
            compare(member, value[key]);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr JsonLimits limits{64, 1 << 16};
    if (const auto problem = check_json(text, limits)) {
        require(!problem->what.empty() && problem->offset <= size, "a problem has a name and a place");
        return 0;
    }
    const std::string trimmed(trim_json(text));
    // A number beyond a double is JSON, which nlohmann refuses.
    const Json value = Json::parse(trimmed, nullptr, false);
    if (!value.is_discarded()) {
        compare(trimmed, value);
    }
    const RawJson raw = RawJson::parse(text, limits);
    require(raw.text().find_first_of("\r\n") == std::string::npos, "checked JSON is one line");
    require(RawJson::parse(raw.text(), limits) == raw, "checked JSON is checked JSON");
    return 0;
}
