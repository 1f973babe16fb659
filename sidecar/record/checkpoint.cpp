#include "checkpoint.hpp"

#include "base/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cellgate::record {

namespace {

constexpr std::string_view signature_mark = "— ";
constexpr std::size_t body_lines = 3; // origin, size, root

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::optional<std::int64_t> parse_size(std::string_view text) {
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
    return status == std::errc() && end == text.data() + text.size() && size >= 0 ? std::optional(size) : std::nullopt;
}

// Bytes of a signature by a key of this kind; a line that was cut has fewer.
bool is_whole_signature(std::string_view line) {
    constexpr std::size_t signature_bytes = 4 + 64;
    const std::optional<std::string> bytes = decode_base64(line.substr(line.rfind(' ') + 1));
    return bytes && bytes->size() == signature_bytes;
}

std::optional<Checkpoint> parse_body(const std::string_view* lines) {
    const std::optional<std::int64_t> size = parse_size(lines[1]);
    const std::optional<std::string> root = decode_base64(lines[2]);
    Checkpoint checkpoint{std::string(lines[0]), size.value_or(0), {}, {}};
    if (!size || !root || root->size() != checkpoint.root.size()) {
        return std::nullopt;
    }
    std::copy(root->begin(), root->end(), checkpoint.root.begin());
    return checkpoint;
}

} // namespace

bool Checkpoint::is_signed_by(const VerifierKey& key) const {
    const std::string_view body = std::string_view(text).substr(0, text.find("\n\n") + 1);
    const std::string mark = fmt::format("{}{} ", signature_mark, key.name);
    const std::vector<std::string_view> lines = lines_of(text);
    return std::any_of(lines.begin() + body_lines + 1, lines.end(), [&](std::string_view line) {
        const std::optional<std::string> bytes =
            line.starts_with(mark) ? decode_base64(line.substr(mark.size())) : std::nullopt;
        return bytes && bytes->starts_with(key.id) && key.has_signed(body, bytes->substr(key.id.size()));
    });
}

std::string signed_checkpoint(const SigningKey& key, std::int64_t size, const Hash& root) {
    const std::string_view bytes(reinterpret_cast<const char*>(root.data()), root.size());
    const std::string& name = key.verifier().name;
    const std::string body = fmt::format("{}\n{}\n{}\n", name, size, encode_base64(bytes));
    return fmt::format("{}\n{}{} {}\n", body, signature_mark, name, encode_base64(key.verifier().id + key.sign(body)));
}

std::vector<Checkpoint> parse_checkpoints(std::string_view text) {
    std::vector<Checkpoint> checkpoints;
    const std::vector<std::string_view> lines = lines_of(text);
    for (std::size_t at = body_lines; at < lines.size(); ++at) {
        std::size_t end = at + 1;
        while (end < lines.size() && lines[end].starts_with(signature_mark)) {
            ++end;
        }
        if (!lines[at].empty() || std::none_of(&lines[at] + 1, &lines[0] + end, is_whole_signature)) {
            continue;
        }
        if (std::optional<Checkpoint> found = parse_body(&lines[at - body_lines])) {
            const char* begin = lines[at - body_lines].data();
            found->text = std::string(begin, lines[end - 1].data() + lines[end - 1].size() + 1);
            checkpoints.push_back(std::move(*found));
        }
        at = end - 1;
    }
    return checkpoints;
}

} // namespace cellgate::record
