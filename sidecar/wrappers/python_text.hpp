#pragma once
// `python_text` turns text from outside into parts of Python source: literals, docstrings and identifiers that any text
// cannot escape from.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

// Text in double quotes: " and \ behind a backslash, a line break as \n, and what is invisible or reorders as `escape`
// writes the code point.
std::string quoted_literal(std::string_view text, std::string (*escape)(std::uint32_t code_point));

// A string literal with exactly this value; invisible and reordering characters are escaped.
std::string string_literal(std::string_view text);

// `text` as the inside of a """docstring""", with every line but the first indented. Invisible characters are escaped,
// both in the source and in help().
std::string docstring(std::string_view text, int indent);

// The ASCII identifier closest to `name`: not a keyword, no leading underscore; `prefix` is prepended where the name
// cannot start one ("field" makes field_2fa of 2fa).
std::string identifier(std::string_view name, std::string_view prefix);

// A class name in Python's style: "x-loc_list" becomes XLocList.
std::string class_identifier(std::string_view name);

// The identifiers in generated Python code, outside literals and docstrings.
std::set<std::string> identifiers_in(std::string_view code);

// `NameScope` is the set of identifiers used in one scope.
class NameScope {
  public:
    explicit NameScope(std::set<std::string> taken) : taken_(std::move(taken)) {}

    bool taken(const std::string& name) const { return taken_.contains(name); }
    // `wanted`, with _2, _3 … appended if it is taken.
    std::string claim(const std::string& wanted);

  private:
    std::set<std::string> taken_;
    std::map<std::string, int> last_number_; // of each wanted name
};

// One unique identifier for each name, in order. `reserved` ones get a trailing _. A name that is an identifier already
// keeps it, whatever the others are.
std::vector<std::string> identifiers_for(const std::vector<std::string>& names, std::string_view prefix,
                                         const std::set<std::string>& reserved);

} // namespace cellgate::wrappers
