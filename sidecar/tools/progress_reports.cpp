#include "progress_reports.hpp"

#include "base/escape_unprintable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr Duration pause = 200ms;
constexpr std::size_t max_words = 400; // of the server's, as they are shown

std::string in_words(const mcp::CallProgress& progress) {
    std::string words = fmt::format("{:.6g}", progress.progress);
    if (progress.total) {
        words += fmt::format(" of {:.6g}", *progress.total);
    }
    if (progress.message && !progress.message->empty()) {
        // What is not printable takes several characters when it is shown.
        const std::string shown = escape_unprintable(cut_at_character(*progress.message, max_words));
        words += ": ";
        words += cut_at_character(shown, max_words);
    }
    return words;
}

} // namespace

ProgressReports::ProgressReports(Clock& clock, OnCallProgress report_to, std::string server, std::string tool)
    : clock_(clock), report_to_(std::move(report_to)), server_(std::move(server)), tool_(std::move(tool)) {}

ProgressReports::~ProgressReports() {
    if (last_) {
        report_to_(server_, tool_, std::nullopt);
    }
}

void ProgressReports::note(std::optional<std::string> words) {
    if (report_to_) {
        report_to_(server_, tool_, std::move(words));
    }
}

void ProgressReports::report(const mcp::CallProgress& progress) {
    if (!report_to_) {
        return;
    }
    const Instant now = clock_.now();
    if (!last_ || now - *last_ >= pause) {
        last_ = now;
        report_to_(server_, tool_, in_words(progress));
    }
}

} // namespace cellgate::tools
