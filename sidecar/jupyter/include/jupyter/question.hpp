#pragma once
// What can be asked of an idle kernel besides running code: requests on shell, and what their replies say. Replies are
// the kernel's word and become text that is safe to show; what would not fit is cut. Places are counted in code points.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

// One request. Its reply has the type `type` + "_reply", and is read by the function of that name.
struct Question {
    std::string type;    // "complete"
    std::string content; // JSON
};

struct Completion {
    std::vector<std::string> matches;
    std::optional<std::vector<std::string>> types; // one for each match, where the kernel tells
    std::int64_t cursor_start = 0;
    std::int64_t cursor_end = 0;
};
Question ask_completion(const std::string& code, std::int64_t cursor);
// Each read_… throws Error{parse_error, invalid_params} for what is no such reply.
Completion read_completion(std::string_view reply, std::int64_t cursor);

Question ask_inspection(const std::string& code, std::int64_t cursor, std::int64_t detail_level);
std::optional<std::string> read_inspection(std::string_view reply);

struct Completeness {
    std::string status; // complete, incomplete, invalid or unknown
    std::optional<std::string> indent;
};
Question ask_completeness(const std::string& code);
Completeness read_completeness(std::string_view reply);

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
// Of a kernel that our bootstrap started; any other has none to tell of.
Question ask_variables();
std::optional<Variables> read_variables(std::string_view reply);

} // namespace cellgate::jupyter
