#include "daemon/handshake.hpp"

#include "base/sync.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

namespace cellgate::daemon {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) {
        return std::nullopt;
    }
    return value;
}

Task<std::optional<std::string>> read_short_line(ByteStream* stream) {
    constexpr std::size_t max_line_bytes = 200;
    std::string line;
    while (line.size() <= max_line_bytes) {
        const std::string bytes = co_await stream->read();
        line += bytes;
        const std::size_t end = line.find('\n');
        if (end != std::string::npos) {
            const bool more = end + 1 < line.size();
            line.resize(end);
            co_return more ? std::nullopt : std::optional(std::move(line));
        }
        if (bytes.empty()) {
            break;
        }
    }
    co_return std::nullopt;
}

} // namespace

std::string client_handshake(const std::string& version) {
    return fmt::format("cellgate {}\n", version);
}

std::string sidecar_handshake(const Handshake& handshake) {
    return fmt::format("cellgate {} {} {}\n", handshake.version, handshake.pid,
                       handshake.serving ? "serving" : "leaving");
}

std::optional<std::string> parse_client_handshake(const std::string& line) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 2 || words[0] != "cellgate" || words[1].empty()) {
        return std::nullopt;
    }
    return std::string(words[1]);
}

std::optional<Handshake> parse_sidecar_handshake(const std::string& line) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 4 || words[0] != "cellgate" || words[1].empty() ||
        (words[3] != "serving" && words[3] != "leaving")) {
        return std::nullopt;
    }
    const std::optional<std::int64_t> pid = number(words[2]);
    if (!pid) {
        return std::nullopt;
    }
    return Handshake{std::string(words[1]), *pid, words[3] == "serving"};
}

Task<std::optional<std::string>> read_line(async::Loop& loop, ByteStream& stream, Duration timeout, bool* timed_out) {
    std::optional<std::optional<std::string>> line =
        co_await with_timeout(loop.clock(), timeout, read_short_line(&stream));
    if (line) {
        co_return std::move(*line);
    }
    stream.close();
    if (timed_out != nullptr) {
        *timed_out = true;
    }
    co_return std::nullopt;
}

bool is_older(const std::string& a, const std::string& b) {
    const std::vector<std::string_view> ours = split(a, '.');
    const std::vector<std::string_view> theirs = split(b, '.');
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
        const std::optional<std::int64_t> our = i < ours.size() ? number(ours[i]) : 0;
        const std::optional<std::int64_t> their = i < theirs.size() ? number(theirs[i]) : 0;
        if (!our || !their || *our != *their) {
            return our && their && *our < *their;
        }
    }
    return false;
}

} // namespace cellgate::daemon
