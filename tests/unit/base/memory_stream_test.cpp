#include "base/memory_stream.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cellgate;

namespace {

Task<void> read_all(ByteStream* stream, std::vector<std::string>* pieces) {
    while (true) {
        const std::string piece = co_await stream->read();
        pieces->push_back(piece);
        if (piece.empty()) {
            co_return;
        }
    }
}

Task<void> read_once(ByteStream* stream) {
    co_await stream->read();
}

Task<void> wait_drained(ByteStream* stream, std::size_t below, bool* done) {
    co_await stream->drained(below);
    *done = true;
}

} // namespace

TEST_CASE("what one end writes the other reads, in pieces and in order, and then the end") {
    auto [a, b] = memory_stream_pair();
    std::vector<std::string> pieces;
    TaskScope scope;
    a->write("one");
    scope.spawn(read_all(b.get(), &pieces));
    a->write("two");
    a->write("");
    a->write("three");
    CHECK(pieces == std::vector<std::string>{"one", "two", "three"});
    a->close();
    CHECK(pieces.back().empty());
    CHECK(scope.running() == 0);
}

TEST_CASE("what was written before the close is still read") {
    auto [a, b] = memory_stream_pair();
    a->write("last words");
    a->close();
    a->write("too late");
    std::vector<std::string> pieces;
    TaskScope scope;
    scope.spawn(read_all(b.get(), &pieces));
    CHECK(pieces == std::vector<std::string>{"last words", ""});
}

TEST_CASE("an end that goes away ends the other's read") {
    auto [a, b] = memory_stream_pair();
    std::vector<std::string> pieces;
    TaskScope scope;
    scope.spawn(read_all(b.get(), &pieces));
    CHECK(scope.running() == 1);
    a.reset();
    CHECK(scope.running() == 0);
    CHECK(pieces == std::vector<std::string>{""});
    b->write("into the void");
}

TEST_CASE("a writer waits until the queue is short enough or the stream is closed") {
    auto [a, b] = memory_stream_pair();
    TaskScope scope;
    bool done = false;
    a->write("12345");
    a->write("67");
    CHECK(a->write_queue_size() == 7);
    scope.spawn(wait_drained(a.get(), 2, &done));
    CHECK_FALSE(done);
    scope.spawn(read_once(b.get()));
    CHECK(done);
    CHECK(a->write_queue_size() == 2);

    bool closed = false;
    scope.spawn(wait_drained(a.get(), 0, &closed));
    CHECK_FALSE(closed);
    b->close();
    CHECK(closed);
    CHECK(scope.running() == 0);
}

TEST_CASE("a read that is cancelled leaves what comes later for the next") {
    auto [a, b] = memory_stream_pair();
    TaskScope scope;
    const auto waiting = scope.spawn(read_once(b.get()));
    waiting->cancel();
    CHECK(scope.running() == 0);
    a->write("kept");
    a->close();
    std::vector<std::string> pieces;
    scope.spawn(read_all(b.get(), &pieces));
    CHECK(pieces == std::vector<std::string>{"kept", ""});
}
