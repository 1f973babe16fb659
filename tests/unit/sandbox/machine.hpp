#pragma once
// `Machine` is a small machine to attack: a home with a key in it, a workspace with protected files, a private session
// directory, all below one temporary directory that is removed with it; and the means to run Python in there.

#include "async/process.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/launcher.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace cellgate::sandbox {

struct Ran {
    async::ExitStatus status;
    std::string out;
    std::string error;
    std::vector<std::string> layers;
    std::uint64_t memory_kills = 0; // by its control group
    bool memory_limit_was_met = false;
};

class Machine {
  public:
    static constexpr std::chrono::seconds usual_patience{300};

    explicit Machine(std::string workspace_name = "home/work");
    ~Machine();

    // Runs `program` by /usr/bin/python3 -c, with H, W and S (home, workspace, session directory) defined, beside what
    // is in `variables`.
    Ran python(Isolation isolation, const std::string& program);
    Ran run(Isolation isolation, async::Command command);
    static Ran start(const Launcher& launcher, const Launch& launch, std::chrono::seconds patience = usual_patience);

    void write(const std::filesystem::path& path, const std::string& content) const;
    std::string read(const std::filesystem::path& path) const;
    // Every path below the workspace, with type and content of files.
    std::string picture_of_workspace() const;

    std::filesystem::path root;
    std::filesystem::path home;
    std::filesystem::path workspace;
    std::filesystem::path session_dir;
    Profile profile;
    Environment environment; // of the sidecar
    Environment variables;   // added to what is run
    std::chrono::seconds patience = usual_patience;
};

// Runs `main` on a loop of its own.
void on_loop(const std::function<Task<void>(async::Loop&)>& main);

// A unix socket that listens. A name that begins with a NUL is an abstract one.
UniqueFd listen_unix(const std::string& name);

Task<std::string> read_to_end(ByteStream* stream);

// What honest code does with files, in any sandbox: leaves the folders "a" and "c", with "c/file" in it.
inline constexpr const char* files_as_usual = R"python(
os.makedirs("a/b"); os.makedirs("c")
open("a/b/file", "w").write("text")
os.rename("a/b/file", "c/file"); os.link("c/file", "a/link"); os.rename("a/b", "c/b"); os.symlink("file", "c/symbolic")
os.truncate("c/file", 2); assert open("a/link").read() == "te"
unnamed = os.open("c", os.O_TMPFILE | os.O_RDWR, 0o600)
os.link(f"/proc/self/fd/{unnamed}", "a/named", src_dir_fd=unnamed, follow_symlinks=True) # so that it follows
memory = os.memfd_create("memory"); open(f"/proc/self/fd/{memory}", "w").write("again")
)python";

} // namespace cellgate::sandbox
