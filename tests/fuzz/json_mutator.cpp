// Changes one line of an input as the JSON that it is, half of the time: bytes changed blindly are hardly ever JSON
// again, and what comes after the parser would be reached with what the seeds hold only.

#include "base/json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using cellgate::Json;
using Random = std::minstd_rand;

constexpr std::array<const char*, 40> names{"type",
                                            "properties",
                                            "required",
                                            "additionalProperties",
                                            "patternProperties",
                                            "items",
                                            "prefixItems",
                                            "minItems",
                                            "maxItems",
                                            "enum",
                                            "const",
                                            "anyOf",
                                            "oneOf",
                                            "allOf",
                                            "$ref",
                                            "$defs",
                                            "$anchor",
                                            "description",
                                            "title",
                                            "default",
                                            "nullable",
                                            "not",
                                            "inputSchema",
                                            "outputSchema",
                                            "name",
                                            "from",
                                            "class",
                                            "Params",
                                            "_x",
                                            "x-y",
                                            "\"\"\"",
                                            "\\",
                                            "\n",
                                            "\u202e",
                                            "",
                                            "text",
                                            "data",
                                            "content",
                                            "metadata",
                                            "transient"};
constexpr std::array<const char*, 32> values{
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "1.5",
    "1e308",
    "123456789012345678",
    "\"\"",
    "\"\\\"\\\"\\\"\\nimport os\\n\"",
    "\"\\\\\"",
    "\"\\u202e\\u0000\"",
    "\"object\"",
    "\"array\"",
    "\"string\"",
    "\"integer\"",
    "\"#\"",
    "\"#/$defs/a\"",
    "\"#/properties/a\"",
    "[]",
    "{}",
    "[\"object\",\"null\"]",
    R"({"type":"object","properties":{"a":{"$ref":"#"}}})",
    R"({"type":"array","items":{"$ref":"#/$defs/a"}})",
    R"({"type":"array","prefixItems":[{"type":"string"},{}],"minItems":2,"maxItems":2})",
    R"({"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]})",
    R"({"oneOf":[{"properties":{"kind":{"const":"a"}},"required":["kind"]},{"properties":{"kind":{"const":"b"}}}]})",
    R"({"allOf":[{"$ref":"#/$defs/a"},{"type":"integer"}]})",
    R"({"a":{"type":"object","properties":{"x-y":{},"x_y":{}}}})",
    R"([{"const":"a","title":"A"},{"enum":[1,null]}])"};

std::size_t below(Random& random, std::size_t count) {
    return random() % count;
}

void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    for (Json& child : value) {
        if (value.is_structured()) {
            collect(child, all);
        }
    }
}

void mutate_text(Json& value, Random& random) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const std::size_t size = text.size();
    text.resize(size + 16);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    value = below(random, 4) == 0 ? text + text : text;
}

void mutate(Json& document, Random& random) {
    std::vector<Json*> all;
    collect(document, all);
    Json& chosen = *all[below(random, all.size())];
    const Json other =
        below(random, 2) == 0 ? *all[below(random, all.size())] : Json::parse(values[below(random, values.size())]);
    switch (below(random, 4)) {
    case 0:
        chosen = other;
        break;
    case 1:
        mutate_text(chosen, random);
        break;
    case 2:
        if (chosen.is_object()) {
            chosen[names[below(random, names.size())]] = other;
        } else if (chosen.is_array()) {
            chosen.push_back(other);
        } else {
            chosen = Json::array({chosen, other});
        }
        break;
    default:
        if (chosen.is_structured() && !chosen.empty()) {
            chosen.erase(std::next(chosen.begin(), static_cast<std::ptrdiff_t>(below(random, chosen.size()))));
        } else {
            chosen = other;
        }
    }
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    Random random(seed);
    const std::string input(reinterpret_cast<const char*>(data), size);
    std::vector<std::pair<std::size_t, std::size_t>> lines; // start and length of what may be JSON
    for (std::size_t start = 0; start < size;) {
        const std::size_t end = std::min(input.find('\n', start), size);
        if (input[start] == '{' || input[start] == '[') {
            lines.emplace_back(start, end - start);
        }
        start = end + 1;
    }
    if (!lines.empty() && below(random, 2) == 0) {
        const auto [start, length] = lines[below(random, lines.size())];
        Json document = Json::parse(input.substr(start, length), nullptr, false);
        if (!document.is_discarded()) {
            mutate(document, random);
            std::string output = input;
            output.replace(start, length, document.dump(-1, ' ', false, Json::error_handler_t::replace));
            if (output.size() <= max_size) {
                std::memcpy(data, output.data(), output.size());
                return output.size();
            }
        }
    }
    return LLVMFuzzerMutate(data, size, max_size);
}
