#include "guarded_mounts.hpp"

#include "sandbox/guarded_files.hpp"

#include <filesystem>
#include <utility>

namespace cellgate::sandbox {

void show_guarded(MountPlan& plan, const std::string& top, bool writable, Reason reason) {
    plan.because(std::move(reason));
    if (writable) {
        plan.read_write(top);
    } else {
        plan.read_only(top);
    }
    if (!std::filesystem::is_directory(top)) {
        return;
    }
    const GuardedFiles guarded = find_guarded_files(top);
    if (writable) {
        plan.because({"guarded: programs outside of the sandbox run or obey it", Cause::guard});
        for (const std::string& path : guarded.read_only) {
            plan.read_only(path);
        }
    }
    plan.because({"guarded: a secret, by its name", Cause::guard});
    for (const std::string& path : guarded.secret_directories) {
        plan.unreadable_directory(path);
    }
    for (const std::string& path : guarded.secret_files) {
        plan.unreadable_file(path);
    }
}

} // namespace cellgate::sandbox
