#pragma once
// A JSON value taken apart, with its numbers still as they were written. The parts point into the text, which must be
// valid JSON and outlive the tree.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct JsonTree {
    enum class Type { null, boolean, number, string, array, object };

    Type type = Type::null;
    std::string_view text;
    std::string string; // of a string, its escapes resolved
    std::vector<JsonTree> elements;
    struct Member;
    std::vector<Member> members;

    const JsonTree* find(std::string_view name) const;
};

struct JsonTree::Member {
    std::string name;
    JsonTree value;
};

JsonTree parse_json_tree(std::string_view text);

// As JSON sees it: 1 and 1.0 are equal, and the order of members does not count.
bool equal(const JsonTree& a, const JsonTree& b);

} // namespace cellgate::tools
