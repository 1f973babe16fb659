#include "connection_attribution.hpp"

#include <algorithm>

namespace cellgate::session {

namespace {

constexpr std::size_t max_reports = 128;
constexpr std::size_t max_ancestors = 64;

} // namespace

void ConnectionAttribution::add(protocol::ChannelOriginParams reported,
                                const std::optional<std::string>& execution_id) {
    Report report;
    if (reported.execution && reported.execution == execution_id) {
        report.execution_id = execution_id;
        report.line = reported.line;
    }
    report.socket = reported.socket;
    if (!reported.socket) {
        if (!reported.thread || !reported.children || reported.children->size() > max_ancestors) {
            clear();
            return;
        }
        report.thread = *reported.thread;
        report.ancestors = std::move(*reported.children);
    }
    reports_.push_front(std::move(report));
    if (reports_.size() > max_reports) {
        reports_.pop_back();
    }
}

std::optional<std::int64_t> ConnectionAttribution::line_of(const egress::ConnectionSource& caller,
                                                           const std::string& execution_id) const {
    const Report* report = find(caller);
    return report != nullptr && report->execution_id == execution_id ? report->line : std::nullopt;
}

const ConnectionAttribution::Report* ConnectionAttribution::find(const egress::ConnectionSource& caller) const {
    for (const Report& report : reports_) {
        if (report.socket && report.socket == caller.socket) {
            return &report;
        }
    }
    for (const egress::ConnectionSource::Start& start : caller.starts) {
        if (const Report* report = find(start)) {
            return report;
        }
    }
    return nullptr;
}

const ConnectionAttribution::Report* ConnectionAttribution::find(const egress::ConnectionSource::Start& start) const {
    const Report* last = nullptr; // of any thread
    for (const Report& report : reports_) {
        const bool ancestor =
            std::find(report.ancestors.begin(), report.ancestors.end(), start.process) != report.ancestors.end();
        if (report.socket || ancestor) {
            continue;
        }
        last = last == nullptr ? &report : last;
        if (report.thread == start.thread) {
            // When a thread ends, the system reparents its programs to another one. The later report is then either of
            // the ended thread or of a concurrent one.
            return report.same_line(*last) ? &report : nullptr;
        }
    }
    return nullptr;
}

} // namespace cellgate::session
