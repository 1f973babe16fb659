#include "session/masked_output.hpp"

#include "base/json_scan.hpp"

#include <utility>

namespace cellgate::session {

namespace {

struct StreamText {
    std::string others;
    std::string text;
};

// Nothing of an output that has no text as it should be.
std::optional<StreamText> stream_text(const jupyter::Output& output) {
    StreamText found;
    bool has_text = false;
    for (const auto& [key, value] : json_members(output.body.text())) {
        if (key == "text" && json_type(value) == "string") {
            found.text = decode_json_string(value);
            has_text = true;
            continue;
        }
        append_json_string(found.others, key);
        found.others += ':';
        found.others += value;
        found.others += ',';
    }
    return has_text ? std::optional(std::move(found)) : std::nullopt;
}

jupyter::Output stream_output(const std::string& others, const std::string& text) {
    std::string body = "{" + others + "\"text\":";
    append_json_string(body, text);
    body += '}';
    return {jupyter::OutputType::stream, RawJson::checked(std::move(body))};
}

} // namespace

std::vector<jupyter::Output> MaskedOutput::pass(const std::shared_ptr<const SecretMask>& mask, jupyter::Output output) {
    std::vector<jupyter::Output> shown;
    std::optional<StreamText> text;
    if (output.type == jupyter::OutputType::stream) {
        text = stream_text(output);
    }
    if (stream_ && (!text || text->others != stream_->others || !holds())) {
        if (std::optional<jupyter::Output> held = flush()) {
            shown.push_back(std::move(*held));
        }
    }
    if (!text) {
        output.body = masked_json(mask, std::move(output.body));
        shown.push_back(std::move(output));
        return shown;
    }
    if (!stream_) {
        stream_.emplace(Stream{std::move(text->others), MaskedStream(mask)});
    }
    if (const std::string now = stream_->text.push(std::move(text->text)); !now.empty()) {
        shown.push_back(stream_output(stream_->others, now));
    }
    return shown;
}

std::optional<jupyter::Output> MaskedOutput::flush() {
    std::optional<jupyter::Output> held;
    if (holds()) {
        held = stream_output(stream_->others, stream_->text.finish());
    }
    stream_.reset();
    return held;
}

} // namespace cellgate::session
