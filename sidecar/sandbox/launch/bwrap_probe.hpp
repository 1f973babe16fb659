#pragma once
// `probe` tries whether bubblewrap can isolate on this machine, and looks at the sandbox from inside; `explain_refusal`
// says why it cannot, and what a user can do.

#include "base/environment.hpp"
#include "base/error.hpp"
#include "sandbox/build.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

// What is to run in the namespaces.
enum class Rights {
    none,
    network,    // and the machine's network
    of_runtime, // it makes a sandbox of its own: all rights over these namespaces, none over the machine
};

// The namespaces and rights of every sandbox, without its mounts.
std::vector<std::string> isolation_arguments(Rights rights);

// Where bwrap may be: the system's places, then the absolute directories of PATH (a relative one could be a
// workspace's).
std::vector<std::string> bwrap_directories(const Environment& environment);

// bwrap's path. Throws Error{sandbox_unavailable} with how to install it.
std::string find_bwrap(const std::vector<std::string>& directories);

// "0.8.0", or what it said instead.
std::string version_of(const std::string& bwrap);

struct Probed {
    std::vector<std::string> layers;
    std::string unguarded; // why names that do not exist yet cannot be guarded (create_guard.hpp); empty: they can
};

// Runs bwrap with the isolation of every sandbox and returns the layers that hold in there. Throws
// Error{sandbox_unavailable} with bwrap's own words, the cause and the fix.
Probed probe(const std::string& bwrap);

// Whether sandboxes work here, and protect names that do not exist yet.
bool guards_names(const Environment& environment);

// What on this machine is known to refuse user namespaces.
struct HostFacts {
    bool root = false;
    bool apparmor_restricts = false;    // kernel.apparmor_restrict_unprivileged_userns=1 (Ubuntu)
    bool clone_forbidden = false;       // kernel.unprivileged_userns_clone=0 (older Debian)
    bool no_namespaces_allowed = false; // user.max_user_namespaces=0
    bool in_container = false;
    bool filtered = false; // a filter of system calls is around us
};
HostFacts read_host_facts();

Error explain_refusal(const std::string& bwrap, const std::string& said, const HostFacts& facts);

} // namespace cellgate::sandbox
