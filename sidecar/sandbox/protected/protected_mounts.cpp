#include "protected/protected_mounts.hpp"

#include "sandbox/protected_files.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace cellgate::sandbox {

std::vector<std::string> show_guarded(MountPlan& plan, const std::string& top, bool writable, Reason reason,
                                      const std::vector<std::string>& homes,
                                      const std::vector<std::string>& also_obeyed) {
    plan.set_reason(std::move(reason));
    if (writable) {
        plan.read_write(top);
    } else {
        plan.read_only(top);
    }
    if (!std::filesystem::is_directory(top)) {
        return {};
    }
    ProtectedFiles guarded = find_protected_files(top, homes, also_obeyed);
    if (writable) {
        plan.set_reason({"guarded: programs outside of the sandbox run or obey it", Cause::guard});
        for (const std::string& path : guarded.read_only) {
            plan.read_only(path);
        }
    }
    for (const std::string& place : guarded.places) {
        plan.guard_place(place);
    }
    plan.set_reason({"guarded: a secret, by its name", Cause::guard});
    for (const std::string& path : guarded.secret_directories) {
        plan.hide_directory(path);
    }
    for (const std::string& path : guarded.secret_files) {
        plan.hide_file(path);
    }
    return std::move(guarded.notices);
}

void guard_targets(MountPlan& plan) {
    plan.set_reason({"guarded: what programs outside of the sandbox run or obey leads there", Cause::guard});
    for (const std::string& place : plan.guarded_places()) {
        const Mount* there = plan.at(place);
        std::error_code error;
        const std::filesystem::file_type type = std::filesystem::symlink_status(place, error).type();
        const bool can_be_mounted =
            type == std::filesystem::file_type::regular || type == std::filesystem::file_type::directory;
        if (can_be_mounted && there != nullptr && there->writable) {
            plan.read_only(place);
        }
    }
}

} // namespace cellgate::sandbox
