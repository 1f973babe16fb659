#pragma once
// `ConnectionAttribution` is a short history of reports from the code in a kernel: each names the line that is about to
// connect, or to start a program that may (`network/origin` of schemas/channel.json). It finds the line that a
// connection came from. The reports are the code's own and are not trusted; an ambiguous one gives no line.
//
// A report precedes what it is about, so lookups never wait. A socket is identified by its inode number. A program
// belongs to the latest report of the thread that started it which does not list the program among its ancestors.

#include "egress/connection_source.hpp"
#include "protocol/messages/network.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace cellgate::session {

class ConnectionAttribution {
  public:
    // `execution_id`: the running one, by the sidecar's own records. Keeps the last 128 reports.
    void add(protocol::ChannelOriginParams reported, const std::optional<std::string>& execution_id);
    // For when reports may be missing: then the earlier ones are unreliable.
    void clear() { reports_.clear(); }

    // A line of the running execution.
    std::optional<std::int64_t> line_of(const egress::ConnectionSource& caller, const std::string& execution_id) const;

  private:
    struct Report {
        std::optional<std::string> execution_id;
        std::optional<std::int64_t> line;
        std::optional<std::int64_t> socket;
        std::int64_t thread = 0;
        std::vector<std::int64_t> ancestors;

        bool same_line(const Report& other) const { return execution_id == other.execution_id && line == other.line; }
    };

    const Report* find(const egress::ConnectionSource& caller) const;
    const Report* find(const egress::ConnectionSource::Start& start) const;

    std::deque<Report> reports_; // newest first
};

} // namespace cellgate::session
