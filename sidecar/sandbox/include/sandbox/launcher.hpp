#pragma once
// `Launcher` is what turns a command into the sandboxed command, and says which layers of isolation then hold. It never
// falls back: what it cannot isolate as asked it refuses with Error{sandbox_unavailable} and a hint that says exactly
// what to do. Only a user can choose to run a kernel without a sandbox (Isolation::none) or in the weaker one
// (Isolation::landlock).

#include "async/process.hpp"
#include "base/environment.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/descriptor.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/settings.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::sandbox {

struct KernelMounts;

enum class Isolation {
    bwrap,    // bubblewrap: namespaces, allow-listed mounts, no capabilities
    landlock, // Landlock and filters of system calls, without namespaces: weaker, and a user's choice (limitations.hpp)
    none,     // everything that the user can do
};

// Where programs in a sandbox find the way to the network, if there is one: on 127.0.0.1 of the sandbox.
inline constexpr int proxy_port = 3128;

// What one kernel may see. Paths are absolute, exist, and may go through symlinks.
struct Profile {
    std::string workspace;   // read-write at its own path, save for its protected files (protected_files.hpp)
    std::string session_dir; // 0700 and ours: the kernel's sockets, read-write at its own path
    std::vector<std::string> read_only; // interpreter prefixes, the bootstrap: read-only wherever they are
    std::vector<std::string> hidden;    // the sidecar's own directories: a profile that would show one is refused
    Limits limits;
    std::string proxy;    // a unix socket in session_dir that proxy_port is connected to; empty: no network
    std::string packages; // of these, the one folder that is shown, read-only; empty: none
    std::shared_ptr<const Settings> settings = nullptr; // a user's, if there are some
};

// For one start. Keep it until start_process() has returned: the command's descriptors are owned here.
struct Launch {
    async::Command command;
    std::vector<std::string> layers;
    std::vector<std::string> notices; // what the settings ask for and do not get; for users to read
    std::vector<UniqueFd> descriptors;
    // What is shown in there, for explain_path(); nothing without a sandbox.
    std::shared_ptr<const KernelMounts> mounts = nullptr;
    // The group of all processes in there; nothing where none is available. To be kept until the process has ended.
    std::unique_ptr<ControlGroup> group;
};

class Launcher {
  public:
    virtual ~Launcher() = default;

    // Throws Error{sandbox_unavailable} when this isolation is not available on this machine. Success is remembered;
    // after a failure the next call looks again. wrap() calls it, so no caller can forget to.
    virtual void check() = 0;

    // `command.environment` holds what the process gets beside the launcher's base: under bwrap a clean one, under none
    // this process's. An empty `command.cwd` is the workspace. Takes milliseconds of file system work, so it may be
    // called off the loop. Throws Error{config_invalid} for a profile that cannot be isolated ("/" as workspace), and
    // Error{sandbox_unavailable} for a limit that the system cannot enforce.
    virtual Launch wrap(async::Command command, const Profile& profile) = 0;

    // How the wrapped command ended, given how the process around it did.
    virtual async::ExitStatus exit_of(async::ExitStatus outer) const = 0;
};

// `environment` is this process's own (process_environment()): PATH, HOME, language and time zone are taken from it.
std::unique_ptr<Launcher> make_launcher(Isolation isolation, Environment environment);

Environment process_environment();

} // namespace cellgate::sandbox
