// What it takes to find 10 files that changed among 10,000. Usage: snapshot FOLDER ours|git. A sample is a snapshot of
// the changes' module, or `git status` in a repository that has all of the files.

#include "changes/snapshots.hpp"
#include "worker.hpp"

#include <filesystem>
#include <fstream>
#include <spawn.h>

using namespace cellgate;

namespace {

namespace fs = std::filesystem;

constexpr int files = 10'000;
constexpr int files_in_folder = 100;
constexpr int changed_files = 10;

fs::path file(const fs::path& workspace, int n) {
    return workspace / ("folder-" + std::to_string(n / files_in_folder)) / ("file-" + std::to_string(n) + ".txt");
}

void write(const fs::path& workspace, int n, int version) {
    std::ofstream(file(workspace, n)) << "file " << n << ", version " << version << "\n"
                                      << std::string(500, 'x') << "\n";
}

void git(const fs::path& workspace, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-C", workspace.string(), "-c", "user.name=a", "-c", "user.email=a@b"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    ::posix_spawn_file_actions_init(&quiet);
    ::posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    int status = 0;
    if (::posix_spawnp(&pid, "git", &quiet, nullptr, argv.data(), environ) != 0 || ::waitpid(pid, &status, 0) != pid ||
        status != 0) {
        bench::die("git failed");
    }
    ::posix_spawn_file_actions_destroy(&quiet);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        bench::die("usage: snapshot FOLDER ours|git");
    }
    const fs::path folder = argv[1];
    const fs::path workspace = folder / "workspace";
    for (int n = 0; n < files; ++n) {
        if (n % files_in_folder == 0) {
            fs::create_directories(file(workspace, n).parent_path());
        }
        write(workspace, n, 0);
    }
    int version = 0;
    const auto change = [&] {
        ++version;
        for (int n = 0; n < changed_files; ++n) {
            write(workspace, n * (files / changed_files), version);
        }
    };
    if (std::string_view(argv[2]) == "git") {
        git(workspace, {"init", "-q"});
        git(workspace, {"add", "-A"});
        git(workspace, {"commit", "-q", "-m", "all"});
        bench::serve([&] {
            change();
            const double start = bench::now();
            git(workspace, {"status", "--porcelain"});
            return bench::now() - start;
        });
        return 0;
    }
    changes::Options options;
    options.directory = (folder / "private").string();
    options.workspace = workspace.string();
    changes::Snapshots snapshots(options);
    snapshots.take();
    bench::serve([&] {
        change();
        const double start = bench::now();
        if (!snapshots.take().complete) {
            bench::die("the snapshot is not complete");
        }
        return bench::now() - start;
    });
    return 0;
}
