#include "egress/connection_source.hpp"

#include "base/escape_unprintable.hpp"

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
std::optional<ConnectionSource> read_facts(std::string_view line) {
    ConnectionSource source;
    source.is_command = take(line, "command ");
    source.socket = take_number(line);
    while (source.socket && take(line, " ")) {
        const std::optional<std::int64_t> process = take_number(line);
        const bool follows = take(line, ":");
        const std::optional<std::int64_t> thread = take_number(line);
        if (!process || !follows || !thread) {
            return std::nullopt;
        }
        source.starts.push_back({*process, *thread});
    }
    return source.socket && line.empty() ? std::optional(std::move(source)) : std::nullopt;
}

} // namespace

ConnectionSource read_source(std::string_view text) {
    const std::size_t end = text.find('\n');
    std::optional<ConnectionSource> source =
        end == std::string_view::npos ? std::nullopt : read_facts(text.substr(0, end));
    if (!source) {
        return {escape_unprintable(text), false, std::nullopt, {}};
    }
    source->program = escape_unprintable(text.substr(end + 1));
    return std::move(*source);
}

std::optional<std::string> shown_program(const ConnectionSource& source, std::string_view command) {
    if (source.program.empty()) {
        return std::nullopt;
    }
    return source.is_command ? fmt::format("{} ({})", command, source.program) : source.program;
}

} // namespace cellgate::egress
