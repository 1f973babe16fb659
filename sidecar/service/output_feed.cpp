#include "output_feed.hpp"

#include "large_data.hpp"

#include <fmt/format.h>

namespace cellgate::service {

namespace {

constexpr std::size_t stop_above = std::size_t{4} << 20;
constexpr std::size_t resume_below = std::size_t{1} << 20;

} // namespace

protocol::OutputRecord OutputFeed::for_client(const session::Execution& execution,
                                              protocol::OutputRecord record) const {
    // The journal's limit holds for the files too: what it did not keep goes into none.
    if (!directory_.empty() && execution.journal.failure().empty()) {
        move_large_data_to_files(record, fmt::format("{}/{}.{}", directory_, execution.id, record.seq));
    }
    return record;
}

void OutputFeed::send(const session::Execution& execution, const protocol::OutputRecord& record) {
    if (skipped_.contains(execution.id) || peer_.connection().queued_bytes() > stop_above) {
        skip(execution.id, record);
        return;
    }
    protocol::OutputRecord taken = for_client(execution, record);
    protocol::ExecuteOutputParams params;
    params.execution_id = execution.id;
    params.seq = taken.seq;
    params.count = taken.count;
    params.output = std::move(taken.output);
    params.files = std::move(taken.files);
    params.late = taken.late;
    peer_.notify<protocol::ExecuteOutput>(params);
}

void OutputFeed::skip(const std::string& execution_id, const protocol::OutputRecord& record) {
    if (const auto entry = skipped_.find(execution_id); entry != skipped_.end() && entry->second.late != record.late) {
        flush(execution_id); // what came before the end is not late
    }
    Skipped& skipped = skipped_[execution_id];
    if (skipped.count == 0) {
        skipped.seq = record.seq;
    }
    skipped.count += record.count;
    skipped.bytes += record.output->text().size();
    skipped.late = record.late;
    if (!std::exchange(waiting_, true)) {
        tasks_.spawn(flush_when_drained());
    }
}

void OutputFeed::flush(const std::string& execution_id) {
    if (const auto entry = skipped_.find(execution_id); entry != skipped_.end()) {
        announce(execution_id, entry->second);
        skipped_.erase(entry);
    }
}

Task<void> OutputFeed::flush_when_drained() {
    co_await peer_.connection().drained(resume_below);
    waiting_ = false;
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
