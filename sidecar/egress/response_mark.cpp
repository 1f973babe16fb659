#include "response_mark.hpp"

#include <utility>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_kept_bytes = 65536;

// "HTTP/1.1 100 Continue"; not 101, behind which comes another protocol.
bool is_interim(std::string_view status_line) {
    return status_line.size() > 12 && status_line[8] == ' ' && status_line[9] == '1' &&
           status_line.substr(9, 3) != "101";
}

} // namespace

std::string ResponseMark::pass(std::string_view bytes) {
    constexpr std::string_view version = "HTTP/1.";
    constexpr std::string_view line_end = "\r\n";
    constexpr std::string_view head_end = "\r\n\r\n";
    if (passed_) {
        return std::string(bytes);
    }
    kept_ += bytes;
    std::string out;
    while (true) {
        const bool is_answer = std::string_view(kept_).substr(0, version.size()) == version.substr(0, kept_.size());
        const std::size_t line = kept_.find(line_end);
        const bool interim = line != std::string::npos && is_interim(kept_);
        const std::size_t end = interim ? kept_.find(head_end) : line;
        if (is_answer && end == std::string::npos && kept_.size() < max_kept_bytes) {
            return out; // the rest of it is to come
        }
        if (!is_answer || end == std::string::npos) {
            break;
        }
        out += kept_.substr(0, end) + std::string(interim ? head_end : line_end);
        kept_.erase(0, end + (interim ? head_end : line_end).size());
        if (!interim) {
            out += "connection: close\r\n";
            break;
        }
    }
    passed_ = true;
    return out + std::exchange(kept_, {});
}

} // namespace cellgate::egress
