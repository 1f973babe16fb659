#include "async/process.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::async;

namespace {

Task<std::string> read_all(ByteStream* stream) {
    std::string all;
    while (true) {
        const std::string chunk = co_await stream->read();
        if (chunk.empty()) {
            co_return all;
        }
        all += chunk;
    }
}

Task<void> echo_through_cat(Loop* loop) {
    Command command;
    command.argv = {"cat"};
    const std::unique_ptr<Process> process = start_process(*loop, command);
    process->stdio().write("hello");
    process->close_stdin();
    const std::string text = co_await read_all(&process->stdio());
    CHECK(text == "hello");
    const ExitStatus status = co_await process->exited();
    CHECK(status.success());
}

} // namespace

TEST_CASE("what is written to a child's stdin comes back from cat") {
    Loop loop;
    loop.run(echo_through_cat(&loop));
}
