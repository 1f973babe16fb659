#pragma once
// Text from outside as parts of Python source: literals, docstrings and identifiers that hold whatever it says.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

// A string literal with exactly this value; what is invisible or would reorder the line is escaped.
std::string string_literal(std::string_view text);

// `text` as the inside of a """docstring""", with every line but the first indented. What is invisible shows as an
// escape, in the source as in help().
std::string docstring(std::string_view text, int indent);

// An ASCII identifier as near to `name` as may be: no keyword, no leading underscore; `prefix` goes before what could
// not start one ("field" makes field_2fa of 2fa).
std::string identifier(std::string_view name, std::string_view prefix);

// A class name in the style of Python: "x-loc_list" becomes XLocList.
std::string class_identifier(std::string_view name);

// The identifiers in Python code of our own making, without what stands inside literals and docstrings.
std::set<std::string> identifiers_in(std::string_view code);

// Identifiers that were given away in one scope.
class NameScope {
  public:
    explicit NameScope(std::set<std::string> taken) : taken_(std::move(taken)) {}

    bool taken(const std::string& name) const { return taken_.contains(name); }
    // `wanted`, or with _2, _3 … after it when it is taken.
    std::string claim(const std::string& wanted);

  private:
    std::set<std::string> taken_;
    std::map<std::string, int> last_number_; // given out after a wanted name
};

// One identifier for each name, in order, none twice and none of the `reserved`, which get a _ at their end. A name
// that is an identifier already keeps it, whatever the others are.
std::vector<std::string> identifiers_for(const std::vector<std::string>& names, std::string_view prefix,
                                         const std::set<std::string>& reserved);

} // namespace cellgate::wrappers
