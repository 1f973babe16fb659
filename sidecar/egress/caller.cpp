#include "egress/caller.hpp"

#include "base/visible_text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace cellgate::egress {

namespace {

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number <= 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, std::string_view part) {
    const bool found = text.starts_with(part);
    text.remove_prefix(found ? part.size() : 0);
    return found;
}

// Of the first line; nothing when it is not as the bridge writes it.
std::optional<Caller> read_facts(std::string_view line) {
    Caller caller;
    caller.is_command = take(line, "command ");
    caller.socket = take_number(line);
    while (caller.socket && take(line, " ")) {
        const std::optional<std::int64_t> process = take_number(line);
        const bool follows = take(line, ":");
        const std::optional<std::int64_t> thread = take_number(line);
        if (!process || !follows || !thread) {
            return std::nullopt;
        }
        caller.starts.push_back({*process, *thread});
    }
    return caller.socket && line.empty() ? std::optional(std::move(caller)) : std::nullopt;
}

} // namespace

Caller read_caller(std::string_view text) {
    const std::size_t end = text.find('\n');
    std::optional<Caller> caller = end == std::string_view::npos ? std::nullopt : read_facts(text.substr(0, end));
    if (!caller) {
        return {visible_text(text), false, std::nullopt, {}};
    }
    caller->program = visible_text(text.substr(end + 1));
    return std::move(*caller);
}

std::optional<std::string> shown_program(const Caller& caller, std::string_view command) {
    if (caller.program.empty()) {
        return std::nullopt;
    }
    return caller.is_command ? fmt::format("{} ({})", command, caller.program) : caller.program;
}

} // namespace cellgate::egress
