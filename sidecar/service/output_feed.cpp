#include "output_feed.hpp"

#include "large_data.hpp"

#include <algorithm>

namespace cellgate::service {

namespace {

// Of the connection's queue: above this, records wait and are joined.
constexpr std::size_t wait_above = std::size_t{256} << 10;
// Of what waits.
constexpr std::size_t skip_above = std::size_t{16} << 20;
constexpr std::size_t send_again_below = std::size_t{4} << 20;

constexpr std::size_t most_joined_bytes = std::size_t{256} << 10;
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

std::size_t OutputFeed::Held::cost() const {
    constexpr std::size_t overhead = 256;
    return output.empty() ? 0 : output.size() + overhead;
}

std::size_t OutputFeed::most_inline_bytes() const {
    return files_ ? max_inline_bytes : most_message_bytes;
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
    const bool fits = record.output->text().size() <= most_inline_bytes();
    if (!pumping_ && fits && peer_.connection().queued_bytes() <= wait_above) {
        notify(execution.id, record);
        return;
    }
    hold(execution, record);
    if (!std::exchange(pumping_, true)) {
        tasks_.spawn(pump());
    }
}

OutputFeed::Held* OutputFeed::last_of(const std::string& execution_id) {
    const auto found =
        std::find_if(held_.rbegin(), held_.rend(), [&](const Held& held) { return held.execution_id == execution_id; });
    return found == held_.rend() ? nullptr : &*found;
}

bool OutputFeed::join(Held& last, const protocol::OutputRecord& record) {
    const std::string& output = record.output->text();
    const std::string_view start = stream_start(output);
    if (start.empty() || stream_start(last.output) != start || last.record.late != record.late ||
        last.output.size() + output.size() > most_joined_bytes) {
        return false;
    }
    held_bytes_ -= last.cost();
    last.output.resize(last.output.size() - stream_end.size());
    last.output += std::string_view(output).substr(start.size());
    last.record.count += record.count;
    held_bytes_ += last.cost();
    return true;
}

void OutputFeed::hold(const session::Execution& execution, const protocol::OutputRecord& record) {
    Held* last = last_of(execution.id);
    const std::string& output = record.output->text();
    if (held_bytes_ > skip_above) {
        skipping_ = true;
    }
    // What came before the end of an execution is not late.
    if (skipping_ && last != nullptr && last->output.empty() && last->record.late == record.late) {
        last->record.count += record.count;
        *last->record.skipped_bytes += output.size();
        return;
    }
    if (!skipping_ && last != nullptr && join(*last, record)) {
        return;
    }
    Held held;
    held.execution_id = execution.id;
    held.record.seq = record.seq;
    held.record.count = record.count;
    held.record.late = record.late;
    if (skipping_) {
        held.record.skipped_bytes = output.size();
    } else {
        held.output = output;
        held.stem = execution.journal.data_stem(record.seq);
    }
    held_bytes_ += held.cost();
    held_.push_back(std::move(held));
}

Task<void> OutputFeed::fit(std::shared_ptr<Held> held) {
    const std::size_t limit = most_inline_bytes();
    if (held->record.output->text().size() <= limit) {
        co_return;
    }
    std::function<void()> work = [held, limit] { fit_into_message(held->record, held->stem, limit); };
    co_await off_loop_(std::move(work));
}

Task<void> OutputFeed::pump() {
    while (!held_.empty()) {
        co_await peer_.connection().drained(wait_above);
        const auto held = std::make_shared<Held>(std::move(held_.front()));
        held_.pop_front();
        held_bytes_ -= held->cost();
        if (held_bytes_ < send_again_below) {
            skipping_ = false;
        }
        in_hand_ = held->execution_id;
        seq_in_hand_ = held->record.seq;
        if (!held->output.empty()) {
            held->record.output = RawJson::checked(std::move(held->output));
            co_await fit(held);
        }
        notify(held->execution_id, held->record);
        in_hand_.clear();
        moved_.set();
    }
    pumping_ = false;
}

std::int64_t OutputFeed::first_unsent(const std::string& execution_id, std::int64_t next) const {
    if (in_hand_ == execution_id) {
        return seq_in_hand_;
    }
    const auto first =
        std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.execution_id == execution_id; });
    return first == held_.end() ? next : first->record.seq;
}

Task<void> OutputFeed::settled(std::string execution_id) {
    while (in_hand_ == execution_id || last_of(execution_id) != nullptr) {
        moved_.reset();
        co_await moved_.wait();
    }
}

Task<void> OutputFeed::close() {
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::service
