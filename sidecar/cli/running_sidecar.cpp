#include "running_sidecar.hpp"

#include "base/escape_unprintable.hpp"
#include "daemon/connect.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

constexpr Duration answer_timeout = std::chrono::seconds(5);

} // namespace

Task<std::unique_ptr<ByteStream>> find_running_sidecar(async::Loop* loop, daemon::InstancePaths paths) {
    std::optional<daemon::SidecarConnection> found =
        co_await daemon::join_workspace(*loop, paths, protocol::Role::agent, answer_timeout);
    if (found && found->silent) {
        throw daemon::no_answer(paths, found->sidecar.pid);
    }
    if (found && found->stream && found->sidecar.version != CELLGATE_VERSION) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("cellgate {} runs for {}, and this is {}", escape_unprintable(found->sidecar.version),
                                escape_unprintable(paths.workspace), CELLGATE_VERSION),
                    "ask with that version");
    }
    if (found && found->stream) {
        found = co_await daemon::join_workspace(*loop, paths, protocol::Role::user, answer_timeout);
    }
    if (!found) {
        co_return nullptr;
    }
    co_return std::move(found->stream);
}

Task<std::unique_ptr<ByteStream>> join_running_sidecar(async::Loop* loop, daemon::InstancePaths paths) {
    const std::string workspace = escape_unprintable(paths.workspace);
    std::unique_ptr<ByteStream> stream = co_await find_running_sidecar(loop, std::move(paths));
    if (!stream) {
        fmt::print(stderr, "cellgate: no sidecar runs for {}; an editor or an agent starts one\n", workspace);
    }
    co_return std::move(stream);
}

} // namespace cellgate::cli
