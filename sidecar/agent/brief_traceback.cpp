#include "brief_traceback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cellgate::agent {

namespace {

constexpr std::size_t long_bytes = 1500;

bool is_frame(std::string_view entry) {
    return entry.starts_with("File ") || entry.starts_with("Cell ");
}

// "File /usr/lib/python3.11/socket.py:851, in create_connection(address, …)", then lines of code.
bool is_library_frame(std::string_view entry) {
    constexpr std::array<std::string_view, 4> folders = {"/lib/python3", "/site-packages/", "/dist-packages/",
                                                         "<frozen "};
    const std::string_view place = entry.substr(0, entry.find_first_of(",\n"));
    return place.starts_with("File ") && std::any_of(folders.begin(), folders.end(), [place](std::string_view folder) {
               return place.find(folder) != std::string_view::npos;
           });
}

bool begins_next_error(std::string_view entry) {
    return entry.starts_with("\nDuring handling of the above exception") ||
           entry.starts_with("\nThe above exception was the direct cause");
}

// Without the name of its type, where there are enough of them to tell it from others.
std::string_view words_of(std::string_view error) {
    constexpr std::size_t min_length = 6;
    const std::size_t colon = error.find(": ");
    const bool tells = colon != std::string_view::npos && error.size() >= colon + 2 + min_length;
    return tells ? error.substr(colon + 2) : error;
}

// One error of a chain, with how the next one follows from it.
struct ChainedError {
    std::vector<std::string_view> entries;
    std::string_view error;
    bool has_own_frames = false;
};

std::vector<ChainedError> errors_of(const std::vector<std::string>& entries) {
    std::vector<ChainedError> errors(1);
    for (const std::string& entry : entries) {
        ChainedError& last = errors.back();
        last.entries.push_back(entry);
        if (begins_next_error(entry)) {
            errors.emplace_back();
        } else {
            last.error = entry;
            last.has_own_frames = last.has_own_frames || (is_frame(entry) && !is_library_frame(entry));
        }
    }
    return errors;
}

void add_left_out(std::string& text, std::size_t& frames, std::string_view& rest) {
    if (frames > 0) {
        text += fmt::format("    [{} frame{} of libraries left out{}{}]\n\n", frames, frames == 1 ? "" : "s",
                            rest.empty() ? "" : ": ", rest);
        rest = {}; // said once
        frames = 0;
    }
}

} // namespace

std::optional<std::string> brief_traceback(const std::vector<std::string>& entries, std::string_view rest) {
    std::size_t bytes = 0;
    for (const std::string& entry : entries) {
        bytes += entry.size();
    }
    if (bytes < long_bytes || std::none_of(entries.begin(), entries.end(), is_library_frame)) {
        return std::nullopt;
    }
    const std::vector<ChainedError> errors = errors_of(entries);
    std::string text;
    std::size_t frames = 0;
    for (const ChainedError& each : errors) {
        const bool is_last = &each == &errors.back();
        if (!is_last && !each.has_own_frames &&
            errors.back().error.find(words_of(each.error)) != std::string_view::npos) {
            frames += static_cast<std::size_t>(std::count_if(each.entries.begin(), each.entries.end(), is_frame));
            continue;
        }
        for (const std::string_view entry : each.entries) {
            if (is_library_frame(entry)) {
                ++frames;
                continue;
            }
            if (entry == each.error || is_frame(entry)) {
                add_left_out(text, frames, rest);
            }
            text += entry;
            text += '\n';
        }
    }
    return text;
}

} // namespace cellgate::agent
