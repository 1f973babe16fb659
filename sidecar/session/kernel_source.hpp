#pragma once
// `KernelSource` is one way in which a session gets its kernel: it starts a process, or uses a kernel that already
// runs. What differs between them for the rest of a session is said here, or by the `jupyter::Kernel` that it gives.

#include "base/task.hpp"
#include "protocol/messages/sessions.hpp"

#include <memory>
#include <string_view>

namespace cellgate::session {

struct KernelContext;
struct KernelInstance;

struct KernelSource {
    bool (*gives)(const protocol::KernelChoice& choice);
    // Sets `kernel` and `language` of the instance, what belongs to them, and what the session reports of it.
    Task<std::unique_ptr<KernelInstance>> (*start)(KernelContext context);
    // Why a kernel that runs is not restarted; empty: it can be.
    std::string_view no_restart;
    // Whether its files are the workspace's, so that what it changes in them can be kept.
    bool has_our_files;
};

// Of a session that was created with `choice`.
const KernelSource& source_of(const protocol::KernelChoice& choice);

} // namespace cellgate::session
