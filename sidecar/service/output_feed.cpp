#include "output_feed.hpp"

#include "large_data.hpp"

#include <algorithm>

namespace cellgate::service {

namespace {

// Bytes in the connection's queue; above this, records wait and are joined.
constexpr std::size_t wait_above = std::size_t{256} << 10;
// Bytes in the backlog.
constexpr std::size_t skip_above = std::size_t{16} << 20;
constexpr std::size_t send_again_below = std::size_t{4} << 20;

constexpr std::size_t max_joined_bytes = std::size_t{256} << 10;
constexpr std::string_view stream_end = "\"}";

// Up to where a stream record's text begins, as the kernel client writes it; empty for other outputs.
std::string_view stream_start(std::string_view output) {
    for (const std::string_view start : {R"({"output_type":"stream","name":"stdout","text":")",
                                         R"({"output_type":"stream","name":"stderr","text":")"}) {
        if (output.starts_with(start)) {
            return start;
        }
    }
    return {};
}

} // namespace

std::size_t OutputFeed::QueuedRecord::cost() const {
    constexpr std::size_t overhead = 256;
    return output.empty() ? 0 : output.size() + overhead;
}

std::size_t OutputFeed::inline_limit() const {
    return files_ ? max_inline_bytes : max_message_bytes;
}

void OutputFeed::notify(const std::string& execution_id, const protocol::OutputRecord& record) {
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

void OutputFeed::send(const session::Execution& execution, const protocol::OutputRecord& record) {
    const bool fits = record.output->text().size() <= inline_limit();
    if (!pumping_ && fits && peer_.connection().queued_bytes() <= wait_above) {
        notify(execution.id, record);
        return;
    }
    enqueue(execution, record);
    if (!std::exchange(pumping_, true)) {
        tasks_.spawn(pump());
    }
}

OutputFeed::QueuedRecord* OutputFeed::last_of(const std::string& execution_id) {
    const auto found = std::find_if(backlog_.rbegin(), backlog_.rend(),
                                    [&](const QueuedRecord& queued) { return queued.execution_id == execution_id; });
    return found == backlog_.rend() ? nullptr : &*found;
}

bool OutputFeed::join(QueuedRecord& last, const protocol::OutputRecord& record) {
    const std::string& output = record.output->text();
    const std::string_view start = stream_start(output);
    if (start.empty() || stream_start(last.output) != start || last.record.late != record.late ||
        last.output.size() + output.size() > max_joined_bytes) {
        return false;
    }
    backlog_bytes_ -= last.cost();
    last.output.resize(last.output.size() - stream_end.size());
    last.output += std::string_view(output).substr(start.size());
    last.record.count += record.count;
    backlog_bytes_ += last.cost();
    return true;
}

void OutputFeed::enqueue(const session::Execution& execution, const protocol::OutputRecord& record) {
    QueuedRecord* last = last_of(execution.id);
    const std::string& output = record.output->text();
    if (backlog_bytes_ > skip_above) {
        skipping_ = true;
    }
    // Late and other records of an execution are announced separately.
    if (skipping_ && last != nullptr && last->output.empty() && last->record.late == record.late) {
        last->record.count += record.count;
        *last->record.skipped_bytes += output.size();
        return;
    }
    if (!skipping_ && last != nullptr && join(*last, record)) {
        return;
    }
    QueuedRecord queued;
    queued.execution_id = execution.id;
    queued.record.seq = record.seq;
    queued.record.count = record.count;
    queued.record.late = record.late;
    if (skipping_) {
        queued.record.skipped_bytes = output.size();
    } else {
        queued.output = output;
        queued.stem = execution.journal.data_stem(record.seq);
    }
    backlog_bytes_ += queued.cost();
    backlog_.push_back(std::move(queued));
}

Task<void> OutputFeed::fit(std::shared_ptr<QueuedRecord> queued) {
    const std::size_t limit = inline_limit();
    if (queued->record.output->text().size() <= limit) {
        co_return;
    }
    std::function<void()> work = [queued, limit] { fit_into_message(queued->record, queued->stem, limit); };
    co_await run_blocking_(std::move(work));
}

Task<void> OutputFeed::pump() {
    while (!backlog_.empty()) {
        co_await peer_.connection().drained(wait_above);
        const auto queued = std::make_shared<QueuedRecord>(std::move(backlog_.front()));
        backlog_.pop_front();
        backlog_bytes_ -= queued->cost();
        if (backlog_bytes_ < send_again_below) {
            skipping_ = false;
        }
        in_flight_ = queued->execution_id;
        seq_in_flight_ = queued->record.seq;
        if (!queued->output.empty()) {
            queued->record.output = RawJson::checked(std::move(queued->output));
            co_await fit(queued);
        }
        notify(queued->execution_id, queued->record);
        in_flight_.reset();
        sent_.notify();
    }
    pumping_ = false;
}

std::int64_t OutputFeed::first_unsent(const std::string& execution_id, std::int64_t next) const {
    if (in_flight_ == execution_id) {
        return seq_in_flight_;
    }
    const auto first = std::find_if(backlog_.begin(), backlog_.end(),
                                    [&](const QueuedRecord& queued) { return queued.execution_id == execution_id; });
    return first == backlog_.end() ? next : first->record.seq;
}

Task<void> OutputFeed::flushed(std::string execution_id) {
    const QueuedRecord* last = last_of(execution_id);
    std::int64_t end = last == nullptr ? 0 : last->record.seq + last->record.count;
    if (last == nullptr && in_flight_ == execution_id) {
        end = seq_in_flight_ + 1;
    }
    const auto all_sent = [&] { return first_unsent(execution_id, end) >= end; };
    co_await sent_.until(all_sent);
}

Task<void> OutputFeed::close() {
    tasks_.cancel();
    co_await tasks_.join();
    backlog_.clear();
    in_flight_.reset();
    sent_.notify();
}

} // namespace cellgate::service
