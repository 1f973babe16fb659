#pragma once
// `KernelAccess` is how the support of a language asks its kernel: by a query, whose reply is small, or by code that
// writes its answer to a file in the kernel's own directory. Either is the kernel's word. An answer's file is read once
// the kernel has replied, and is removed: a link, a pipe, a device or a large file in its place is an error.

#include "base/json_codec.hpp"
#include "base/run_blocking.hpp"
#include "base/sync.hpp"
#include "base/task.hpp"
#include "jupyter/kernel_query.hpp"

#include <functional>
#include <string>
#include <utility>

namespace cellgate::session {

constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;

class KernelAccess {
  public:
    // Returns the reply.
    using Ask = std::function<Task<std::string>(jupyter::KernelQuery query)>;
    // The query that has the kernel make the file `path` with its answer.
    using MakeQuery = std::function<jupyter::KernelQuery(const std::string& path)>;

    // `directory`: the kernel's own.
    KernelAccess(Ask ask, RunBlocking run_blocking, std::string directory)
        : ask_(std::move(ask)), run_blocking_(std::move(run_blocking)), directory_(std::move(directory)) {}

    // All throw what `ask` does.
    Task<std::string> ask(jupyter::KernelQuery query) const { return ask_(std::move(query)); }
    // The kernel's answer, read from JSON. Throws Error{unsupported} if there is none, or it is not one, and
    // Error{limit_exceeded}.
    template <class T>
    Task<T> answer(MakeQuery make) const {
        const std::string path = new_path();
        jupyter::KernelQuery query = make(path);
        co_await ask_for(std::move(query), path);
        T value{};
        std::function<void()> read = [&path, &value] {
            const auto convert = [&value](const RawJson& text) { value = from_json<T>(text, "answer"); };
            read_answer(path, convert);
        };
        co_await shielded(run_blocking_(std::move(read)));
        co_return value;
    }
    // The same with a file of ours, which has `text` and is removed then. `make` gets the path of it, too.
    using MakeQueryOf = std::function<jupyter::KernelQuery(const std::string& path, const std::string& source)>;
    template <class T>
    Task<T> answer_to(RawJson text, MakeQueryOf make) const {
        const std::string source = new_path();
        std::function<void()> write = [&source, &text] { write_source(source, text.text()); };
        co_await shielded(run_blocking_(std::move(write)));
        MakeQuery with_source = [source, make = std::move(make)](const std::string& path) {
            return make(path, source);
        };
        co_return co_await finally(answer<T>(std::move(with_source)), remove(source));
    }

  private:
    std::string new_path() const;
    // Removes the answer's file if that fails.
    Task<void> ask_for(jupyter::KernelQuery query, std::string path) const;
    Task<void> remove(std::string path) const;

    // Both block.
    static void read_answer(const std::string& path, const std::function<void(const RawJson& text)>& convert);
    static void write_source(const std::string& path, const std::string& text);

    Ask ask_;
    RunBlocking run_blocking_;
    std::string directory_;
};

} // namespace cellgate::session
