#pragma once
// `UriTemplate` is a URI template (RFC 6570, every operator and modifier, with strings as values): the address of a
// kind of resource, `weather://{city}/{day}`.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

struct TemplateVariable {
    std::string name;
    bool required = true; // unlike those of a query or a fragment, which are left out where they have no value
};

class UriTemplate {
  public:
    // Throws Error{tool_server_failed} for a text that is none.
    explicit UriTemplate(std::string_view text);

    // Each one once, in order.
    const std::vector<TemplateVariable>& variables() const { return variables_; }
    std::string expand(const std::map<std::string, std::string>& values) const;

  private:
    struct Use {
        std::string name;
        std::size_t max_characters = 0; // of the value; 0: all of it
    };
    // A text as it stands, or an expression.
    struct Part {
        std::string text;
        char op = '\0'; // '\0' of an expression without one
        std::vector<Use> uses;
    };

    Part parse_expression(std::string_view inside);
    static std::string expand_part(const Part& part, const std::map<std::string, std::string>& values);

    std::vector<Part> parts_;
    std::vector<TemplateVariable> variables_;
};

} // namespace cellgate::mcp
