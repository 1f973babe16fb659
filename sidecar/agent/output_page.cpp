#include "output_page.hpp"

#include "base/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace cellgate::agent {

namespace {

constexpr std::uint64_t read_bytes = std::uint64_t{1} << 20;
// In base64, of one page. Models take less than that.
constexpr std::size_t max_picture_bytes = std::size_t{4} << 20;
constexpr std::array<std::string_view, 4> picture_types = {"image/png", "image/jpeg", "image/webp", "image/gif"};

struct Position {
    std::int64_t seq = 0;
    std::size_t offset = 0; // in the text that is made of the record
};

Position parse_cursor(const std::string& cursor) {
    Position position;
    const char* end = cursor.data() + cursor.size();
    const auto first = std::from_chars(cursor.data(), end, position.seq);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':' && position.seq >= 0) {
        const auto second = std::from_chars(first.ptr + 1, end, position.offset);
        if (second.ec == std::errc() && second.ptr == end) {
            return position;
        }
    }
    throw Error(ErrorCode::invalid_params, "cursor: expected one that a result named as `next`");
}

// An output as nbformat has it.
struct Output {
    std::string output_type;
    std::optional<std::string> text;
    std::optional<std::map<std::string, RawJson>> data;
    std::optional<std::vector<std::string>> traceback;
    std::optional<std::string> ename;
    std::optional<std::string> evalue;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("output_type", self.output_type);
        visit("text", self.text);
        visit("data", self.data);
        visit("traceback", self.traceback);
        visit("ename", self.ename);
        visit("evalue", self.evalue);
    }
};

struct Shown {
    std::string text;
    std::string picture_type;
    std::string picture; // base64
};

std::string without_space(std::string base64) {
    std::erase_if(base64, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    return base64;
}

void show_data(const std::map<std::string, RawJson>& data, Shown& shown) {
    for (const std::string_view type : picture_types) {
        const auto found = data.find(std::string(type));
        if (found != data.end() && found->second.type() == "string") {
            shown.picture_type = type;
            shown.picture = without_space(decode_json_string(found->second.text()));
            return;
        }
    }
    const auto plain = data.find("text/plain");
    if (plain != data.end() && plain->second.type() == "string") {
        shown.text = plain_text(decode_json_string(plain->second.text())) + "\n";
        return;
    }
    std::string types;
    for (const auto& [type, value] : data) {
        types += (types.empty() ? "" : ", ") + type;
    }
    shown.text = fmt::format("[{}]\n", types);
}

Shown show(const protocol::OutputRecord& record) {
    Shown shown;
    if (!record.output) {
        shown.text = fmt::format("[{} bytes of output are not kept]\n", record.skipped_bytes.value_or(0));
        return shown;
    }
    const Output output = from_json<Output>(*record.output, "output");
    if (output.output_type == "stream") {
        shown.text = plain_text(output.text.value_or(""));
    } else if (output.output_type == "error") {
        const std::vector<std::string> lines = output.traceback.value_or(std::vector<std::string>{});
        for (const std::string& line : lines) {
            shown.text += plain_text(line) + "\n";
        }
        if (lines.empty()) {
            shown.text = fmt::format("{}: {}\n", output.ename.value_or(""), output.evalue.value_or(""));
        }
    } else if (output.data) {
        show_data(*output.data, shown);
    }
    return shown;
}

// The bytes of the first `count` characters of `text`.
std::size_t bytes_of(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    while (at < text.size() && count > 0) {
        at += decode_utf8(text.substr(at)).length;
        --count;
    }
    return at;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Fills a page from records.
class PageWriter {
  public:
    PageWriter(OutputPage& page, Position position, std::size_t characters)
        : page_(page), position_(position), left_(characters) {}

    const Position& position() const { return position_; }

    // False when the page is full.
    bool add(const protocol::OutputRecord& record) {
        const Shown shown = show(record);
        if (!shown.picture.empty()) {
            add_picture(shown);
        }
        const std::string_view text =
            std::string_view(shown.text).substr(std::min(position_.offset, shown.text.size()));
        const std::size_t taken = bytes_of(text, left_);
        block_ += text.substr(0, taken);
        left_ -= count_characters(text.substr(0, taken));
        if (taken < text.size()) {
            position_ = Position{record.seq, position_.offset + taken};
            return false;
        }
        position_ = Position{record.seq + record.count, 0};
        return true;
    }
    void finish() {
        if (!block_.empty()) {
            page_.content.add_text(block_);
            block_.clear();
        }
    }

  private:
    void add_picture(const Shown& shown) {
        if (shown.picture.size() > picture_bytes_) {
            block_ += fmt::format("[{} of {} bytes: more than fits in a result. Show it smaller]\n", shown.picture_type,
                                  shown.picture.size() / 4 * 3);
            return;
        }
        picture_bytes_ -= shown.picture.size();
        finish();
        page_.content.add_image(shown.picture_type, shown.picture);
    }

    OutputPage& page_;
    Position position_;
    std::size_t left_;
    std::size_t picture_bytes_ = max_picture_bytes;
    std::string block_; // of text, not yet in the content
};

} // namespace

std::string plain_text(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b') {
            plain += text[i];
            continue;
        }
        const char kind = i + 1 < text.size() ? text[i + 1] : '\0';
        if (kind == '[') { // parameters, then a letter
            i += 2;
            while (i < text.size() && (text[i] < '@' || text[i] > '~')) {
                ++i;
            }
        } else if (kind == ']') { // a text, up to BEL or ESC backslash
            i += 2;
            while (i < text.size() && text[i] != '\a' && text[i] != '\x1b') {
                ++i;
            }
            i += i + 1 < text.size() && text[i] == '\x1b' && text[i + 1] == '\\' ? 1 : 0;
        } else {
            ++i;
        }
    }
    return plain;
}

Task<OutputPage> read_output_page(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::optional<std::string> cursor, std::size_t characters) {
    OutputPage page;
    PageWriter writer(page, cursor ? parse_cursor(*cursor) : Position{}, characters);
    bool complete = false;
    bool more = true;
    while (more && !complete && !page.cut) {
        protocol::OutputReadParams params{execution_id, writer.position().seq, read_bytes};
        protocol::OutputReadResult result;
        try {
            result = co_await sidecar->call<protocol::OutputRead>(std::move(params), on_behalf);
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::denied) {
                throw;
            }
            page.withheld = error.message;
            break;
        }
        for (const protocol::OutputRecord& record : result.records) {
            page.cut = !writer.add(record);
            if (page.cut) {
                break;
            }
        }
        complete = result.complete;
        more = !result.records.empty();
    }
    writer.finish();
    if (page.cut || (!complete && page.withheld.empty())) {
        page.next = fmt::format("{}:{}", writer.position().seq, writer.position().offset);
    }
    co_return page;
}

} // namespace cellgate::agent
