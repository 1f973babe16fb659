#include "event_feed.hpp"

#include "base/json_scan.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cellgate::service {

namespace {

// Of a page: entries that are sent, entries that are read, bytes that are sent.
constexpr std::size_t max_sent = 100;
constexpr std::size_t max_read = 10'000;
constexpr std::size_t max_sent_bytes = std::size_t{1} << 20;
// Bytes in the connection's queue; above this, the next page waits.
constexpr std::size_t next_page_below = std::size_t{256} << 10;

struct Page {
    std::vector<protocol::RecordEntry> entries;
    std::int64_t next = 0; // behind what was read
    std::size_t read = 0;
    std::size_t bytes = 0;

    bool is_full() const { return entries.size() == max_sent || read == max_read || bytes >= max_sent_bytes; }
};

bool matches(const std::string& entry, const protocol::EventsSubscribeParams& wanted) {
    if (wanted.session_id && json_member_text(entry, "sessionId") != wanted.session_id) {
        return false;
    }
    if (!wanted.types) {
        return true;
    }
    const std::vector<std::string>& types = *wanted.types;
    return std::find(types.begin(), types.end(), json_member_text(entry, "type").value_or("")) != types.end();
}

} // namespace

Task<protocol::EventsSubscribeResult> EventFeed::subscribe(protocol::EventsSubscribeParams params) {
    const record::KeptRange kept = co_await activity_.kept_range();
    unsubscribe();
    current_ = std::make_shared<Subscription>();
    current_->next = std::max(params.from_seq.value_or(kept.end), kept.first);
    current_->wanted = std::move(params);
    current_->task = tasks_.spawn(pump(current_));
    co_return protocol::EventsSubscribeResult{current_->next};
}

void EventFeed::unsubscribe() {
    if (const std::shared_ptr<Subscription> subscription = std::exchange(current_, nullptr)) {
        subscription->ended = true;
        subscription->task->cancel();
    }
}

Task<void> EventFeed::pump(std::shared_ptr<Subscription> subscription) {
    while (true) {
        const std::uint64_t seen = activity_.stored_count();
        Page page;
        page.next = subscription->next;
        ActivityRecord::Visit visit = [&page, &wanted = subscription->wanted](const record::StoredEntry& entry) {
            page.next = entry.seq + 1;
            ++page.read;
            if (matches(entry.json, wanted)) {
                page.entries.push_back(from_json<protocol::RecordEntry>(entry.json, "entry"));
                page.bytes += entry.json.size();
            }
            return !page.is_full();
        };
        std::string problem;
        try {
            co_await activity_.read(page.next, std::move(visit));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem = error.message;
        }
        note_problem(problem);
        if (subscription->ended) {
            co_return;
        }
        for (const protocol::RecordEntry& entry : page.entries) {
            peer_.notify<protocol::EventsEntry>(entry);
        }
        subscription->next = page.next;
        co_await peer_.connection().drained(next_page_below);
        if (!page.is_full()) {
            co_await activity_.stored_more(seen);
        }
    }
}

void EventFeed::note_problem(const std::string& problem) {
    if (!problem.empty() && problem != problem_) {
        log_warning("events cannot be read: {}", problem);
    }
    problem_ = problem;
}

} // namespace cellgate::service
