#pragma once
// A JSON value taken apart, with its numbers still as they were written. The parts point into the text, which must be
// valid JSON and outlive the tree.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::tools {

struct JsonTree {
    enum class Type { null, boolean, number, string, array, object };

    Type type = Type::null;
    std::string_view text;
    std::string string; // of a string, its escapes resolved
    std::vector<JsonTree> elements;
    std::vector<std::pair<std::string, JsonTree>> members;

    const JsonTree* find(std::string_view key) const;
};

JsonTree parse_json_tree(std::string_view text);

// As JSON sees it: 1 and 1.0 are equal, and the order of members does not count.
bool equal(const JsonTree& a, const JsonTree& b);

} // namespace cellgate::tools
