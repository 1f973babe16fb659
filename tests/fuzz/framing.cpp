// Bytes of a client, a tool server or a kernel as messages: whatever pieces they come in, the same messages come out,
// and a message that was taken apart can be put together again.

#include "protocol/framing.hpp"

#include "fuzzing.hpp"
#include "protocol/message.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::protocol;
using cellgate::fuzz::require;

namespace {

constexpr Framing framing = Framing::CELLGATE_FRAMING;
constexpr std::size_t max_bytes = 512; // within reach of the fuzzer

std::vector<Frame> decode(std::string_view bytes, std::size_t piece) {
    Decoder decoder(framing, max_bytes);
    std::vector<Frame> frames;
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, piece);
        decoder.feed(part);
        bytes.remove_prefix(part.size());
        while (std::optional<Frame> frame = decoder.next()) {
            frames.push_back(std::move(*frame));
        }
    }
    return frames;
}

void check_message(const std::string& text) {
    try {
        const Message message = parse_message(text);
        std::string again;
        switch (message.kind) {
        case Message::Kind::request:
            again = request_text(message.id, message.method, message.payload);
            break;
        case Message::Kind::notification:
            again = notification_text(message.method, message.payload);
            break;
        case Message::Kind::result:
            again = result_text(message.id, message.payload);
            break;
        case Message::Kind::error:
            static_cast<void>(parse_error(message.payload));
            return;
        }
        const Message second = parse_message(again);
        require(second.kind == message.kind && second.id == message.id && second.method == message.method &&
                    second.payload == message.payload,
                "a message that was written and read again is the same");
    } catch (const InvalidMessage& error) {
        require(!error.message.empty(), "an error says what is wrong");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::vector<Frame> whole = decode(bytes, std::max<std::size_t>(size, 1));
    const std::vector<Frame> pieces = decode(bytes, 1 + (size > 0 ? data[size - 1] % 7 : 0));
    require(whole.size() == pieces.size(), "the same number of messages, whatever pieces they come in");
    for (std::size_t i = 0; i < whole.size(); ++i) {
        require(whole[i].text == pieces[i].text && whole[i].problem == pieces[i].problem &&
                    whole[i].fatal == pieces[i].fatal,
                "the same messages, whatever pieces they come in");
        require(!whole[i].fatal || i + 1 == whole.size(), "nothing comes after what cannot be read further");
        if (!whole[i].problem.empty()) {
            continue;
        }
        require(whole[i].text.size() <= max_bytes, "no message is larger than allowed");
        check_message(whole[i].text);
        if (framing == Framing::lines && whole[i].text.ends_with('\r')) {
            continue; // no message of ours ends in what may belong to the line's end
        }
        std::string framed = frame_start(framing, whole[i].text.size()) + whole[i].text;
        framed += frame_end(framing);
        const std::vector<Frame> again = decode(framed, max_bytes);
        require(again.size() == 1 && again[0].text == whole[i].text, "what was framed comes out as it was");
    }
    return 0;
}
