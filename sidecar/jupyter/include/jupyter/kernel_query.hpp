#pragma once
// `KernelQuery` is a shell request to an idle kernel other than running code; the read_ functions parse its reply.
// Replies are untrusted and become text that is safe to display; text that is too long is truncated. Positions are
// counted in code points.

#include "base/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

// The reply has the type `type` + "_reply".
struct KernelQuery {
    std::string type;    // "complete"
    std::string content; // JSON
};

struct Completion {
    std::vector<std::string> matches;
    std::optional<std::vector<std::string>> types; // one for each match, if the kernel reports them
    std::int64_t cursor_start = 0;
    std::int64_t cursor_end = 0;
};
KernelQuery completion_query(const std::string& code, std::int64_t cursor);
// Each read_… throws Error{parse_error, invalid_params} for an invalid reply.
Completion read_completion(std::string_view reply, std::int64_t cursor);

KernelQuery inspection_query(const std::string& code, std::int64_t cursor, std::int64_t detail_level);
std::optional<std::string> read_inspection(std::string_view reply);
// A kernel's description of a name, as read_inspection() returns it.
std::string shown_description(std::string_view text);

struct Variable {
    std::string name;
    std::string type;
    std::string value;
    std::optional<std::string> size;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("type", self.type);
        visit("value", self.value);
        visit("size", self.size);
    }
};
struct Variables {
    std::vector<Variable> all;
    bool truncated = false;
};
// Runs code that prints nothing and has no value. It counts nowhere.
KernelQuery code_query(std::string_view code);
// Evaluates `expression` and runs nothing else.
KernelQuery evaluation_query(std::string_view expression);
// Of an expression whose JSON value has the variables. Nothing if the kernel could not evaluate it.
std::optional<Variables> read_variables(std::string_view reply);
// The value itself: {"variables": [{"name", "type", "value", "size"?}], "truncated"}.
Variables shown_variables(const RawJson& value);
// Text of a kernel that is shown on one line.
std::string shown_line(const std::string& text);

} // namespace cellgate::jupyter
