#include "approval_queue.hpp"
#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;
using gate::ApprovalQueue;
using gate::PendingRequest;
using gate::PendingRequestPtr;

namespace {

// A request that waits in the queue of `session`.
PendingRequestPtr add(ApprovalQueue& queue, const std::string& session, std::size_t bytes = 1) {
    gate::Request request;
    request.action = tool("{}");
    if (!session.empty()) {
        request.session_id = session;
    }
    const auto entry = std::make_shared<PendingRequest>(std::move(request));
    entry->bytes = bytes;
    queue.add(entry);
    return entry;
}

void show(ApprovalQueue& queue, const PendingRequestPtr& entry, const std::string& id) {
    entry->approval.approval_id = id;
    queue.show(entry);
}

} // namespace

TEST_CASE("each session's requests have their turn in the order in which they came") {
    ApprovalQueue queue;
    CHECK(queue.next("s") == nullptr);
    const auto first = add(queue, "s");
    const auto other = add(queue, "other");
    const auto second = add(queue, "s");
    const auto without_session = add(queue, "");
    CHECK(queue.next("s") == first);
    CHECK(queue.next("other") == other);
    CHECK(queue.next("") == without_session);
    show(queue, first, "1");
    CHECK(queue.next("s") == second);
    queue.remove(second); // while it waits
    CHECK(queue.next("s") == nullptr);
    show(queue, other, "2");
    CHECK(std::vector(queue.shown().begin(), queue.shown().end()) == std::vector{first, other});
    CHECK(queue.all() == std::vector{without_session, first, other});
    for (const PendingRequestPtr& entry : {first, other, without_session}) {
        queue.remove(entry);
    }
    CHECK(queue.all().empty());
    CHECK(queue.next("s") == nullptr);
}

TEST_CASE("a session shows a bounded number of approvals, and no other session waits for it") {
    ApprovalQueue queue;
    std::vector<PendingRequestPtr> entries;
    for (std::size_t i = 0; i <= gate::Gate::max_pending_per_session; ++i) {
        entries.push_back(add(queue, "s"));
    }
    for (std::size_t i = 0; i < gate::Gate::max_pending_per_session; ++i) {
        REQUIRE(queue.next("s") == entries[i]);
        show(queue, entries[i], std::to_string(i));
    }
    CHECK(queue.next("s") == nullptr);
    const auto other = add(queue, "other");
    CHECK(queue.next("other") == other);
    queue.remove(entries[7]);
    CHECK(queue.next("s") == entries.back());
}

TEST_CASE("approvals of a session have room for a bounded number of bytes, or for one larger approval") {
    constexpr std::size_t most = gate::Gate::max_pending_bytes_per_session;
    ApprovalQueue queue;
    const auto large = add(queue, "s", most + 1);
    const auto small = add(queue, "s", 1);
    CHECK(queue.has_room_for(*large));
    show(queue, large, "large");
    CHECK_FALSE(queue.has_room_for(*small));
    CHECK(queue.has_room_for(*add(queue, "other", most)));
    queue.remove(large);
    show(queue, small, "small");
    CHECK(queue.has_room_for(*add(queue, "s", most - 1)));
    CHECK_FALSE(queue.has_room_for(*add(queue, "s", most)));
}

TEST_CASE("an answer finds all of its approvals or none") {
    ApprovalQueue queue;
    const auto first = add(queue, "s");
    const auto second = add(queue, "s");
    const auto waiting = add(queue, "s");
    waiting->approval.approval_id = "waiting";
    show(queue, first, "first");
    show(queue, second, "second");
    CHECK(queue.find({"second", "first"}) == std::vector{second, first});
    const auto error = [&queue](const std::vector<std::string>& ids) { return error_of([&] { queue.find(ids); }); };
    CHECK(error({}) == ErrorCode::invalid_params);
    CHECK(error({"first", "second", "first"}) == ErrorCode::invalid_params);
    CHECK(error({"first", "unknown"}) == ErrorCode::approval_not_found);
    CHECK(error({"waiting"}) == ErrorCode::approval_not_found); // no user has seen it
    queue.remove(second);
    CHECK(error({"first", "second"}) == ErrorCode::approval_resolved);
    CHECK(queue.find({"first"}) == std::vector{first});
}

TEST_CASE("the ids of resolved approvals are remembered up to a bound, the newest ones") {
    constexpr int more_than_remembered = 10'001;
    ApprovalQueue queue;
    for (int i = 0; i < more_than_remembered; ++i) {
        const auto entry = add(queue, "s");
        show(queue, entry, std::to_string(i));
        queue.remove(entry);
    }
    CHECK(error_of([&] { queue.find({"0"}); }) == ErrorCode::approval_not_found);
    CHECK(error_of([&] { queue.find({"1"}); }) == ErrorCode::approval_resolved);
    CHECK(error_of([&] { queue.find({std::to_string(more_than_remembered - 1)}); }) == ErrorCode::approval_resolved);
}
