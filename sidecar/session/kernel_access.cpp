#include "kernel_access.hpp"

#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cellgate::session {

std::string KernelAccess::new_path() const {
    return fmt::format("{}/value-{}.json", directory_, random_id());
}

Task<void> KernelAccess::ask_for(jupyter::KernelQuery query, std::string path) const {
    co_await on_failure(ask_(std::move(query)), remove(std::move(path)));
}

Task<void> KernelAccess::remove(std::string path) const {
    std::function<void()> work = [&path] { ::unlink(path.c_str()); };
    co_await run_blocking_(std::move(work));
}

void KernelAccess::read_answer(const std::string& path, const std::function<void(const RawJson& text)>& convert) {
    const ScopeExit removed([&path] { ::unlink(path.c_str()); });
    const RegularFile file = read_regular_file(path, max_answer_bytes + 1, LastLink::refuse);
    if (file.error == ENOENT) {
        throw Error(ErrorCode::unsupported, "the kernel failed to answer");
    }
    if (file.error != 0) {
        const int error = file.error == ELOOP ? EINVAL : file.error; // a link is no regular file either
        throw Error(ErrorCode::unsupported,
                    error == EINVAL
                        ? "the kernel's answer is not in a regular file"
                        : system_error(ErrorCode::unsupported, "cannot read the kernel's answer", error).message);
    }
    if (file.bytes.size() > max_answer_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("the value has {} bytes as JSON; at most {} are copied", file.size, max_answer_bytes),
                    "write it to a file of the workspace, which all sessions can read");
    }
    try {
        convert(RawJson::parse(file.bytes));
    } catch (const Error& error) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("the kernel's answer is none: {}", escape_unprintable(error.message)));
    }
}

void KernelAccess::write_source(const std::string& path, const std::string& text) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid() || !write_all(file.get(), text)) {
        const int error = errno;
        ::unlink(path.c_str());
        throw system_error(ErrorCode::store_failed, "cannot write the value for the kernel", error);
    }
}

} // namespace cellgate::session
