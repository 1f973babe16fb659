#include "output_feed.hpp"

namespace cellgate::service {

namespace {

constexpr std::size_t stop_above = std::size_t{4} << 20;
constexpr std::size_t resume_below = std::size_t{1} << 20;

} // namespace

void OutputFeed::send(const std::string& execution_id, const protocol::OutputRecord& record) {
    if (skipped_.contains(execution_id) || peer_.connection().queued_bytes() > stop_above) {
        Skipped& skipped = skipped_[execution_id];
        if (skipped.count == 0) {
            skipped.seq = record.seq;
        }
        skipped.count += record.count;
        skipped.bytes += record.output ? record.output->text().size() : record.skipped_bytes.value_or(0);
        skipped.late = record.late;
        if (tasks_.running() == 0) {
            tasks_.spawn(flush_when_drained());
        }
        return;
    }
    protocol::ExecuteOutputParams params;
    params.execution_id = execution_id;
    params.seq = record.seq;
    params.count = record.count;
    params.output = record.output;
    params.files = record.files;
    params.skipped_bytes = record.skipped_bytes;
    params.late = record.late;
    peer_.notify<protocol::ExecuteOutput>(params);
}

void OutputFeed::flush(const std::string& execution_id) {
    if (const auto entry = skipped_.find(execution_id); entry != skipped_.end()) {
        announce(execution_id, entry->second);
        skipped_.erase(entry);
    }
}

Task<void> OutputFeed::flush_when_drained() {
    co_await peer_.connection().drained(resume_below);
    for (const auto& [execution_id, skipped] : std::exchange(skipped_, {})) {
        announce(execution_id, skipped);
    }
}

void OutputFeed::announce(const std::string& execution_id, const Skipped& skipped) {
    protocol::ExecuteOutputParams params;
    params.execution_id = execution_id;
    params.seq = skipped.seq;
    params.count = skipped.count;
    params.skipped_bytes = skipped.bytes;
    params.late = skipped.late;
    peer_.notify<protocol::ExecuteOutput>(params);
}

Task<void> OutputFeed::close() {
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::service
