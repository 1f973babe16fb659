#pragma once
// `PackagesInstallParams` and `PackagesInstallResult` are the messages about packages for a workspace's kernels.

#include "base/json_codec.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

struct PackagesInstallParams {
    std::optional<std::string> session_id;
    std::vector<std::string> packages;
    std::optional<bool> allow_source_builds;
    std::optional<RawJson> work_done_token;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("packages", self.packages);
        visit("allowSourceBuilds", self.allow_source_builds);
        visit("workDoneToken", self.work_done_token);
    }
};

enum class InstallStatus { ok, failed };
inline constexpr EnumNames<InstallStatus, 2> enum_names(InstallStatus) {
    return {{{InstallStatus::ok, "ok"}, {InstallStatus::failed, "failed"}}};
}

struct InstalledPackage {
    std::string name;
    std::string version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

struct PackagesInstallResult {
    InstallStatus status = InstallStatus::ok;
    std::optional<std::string> reason;
    std::vector<InstalledPackage> installed;
    std::string output;
    std::vector<std::string> layers;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("status", self.status);
        visit("reason", self.reason);
        visit("installed", self.installed);
        visit("output", self.output);
        visit("layers", self.layers);
    }
};

struct PackagesInstall : Request<PackagesInstallParams, PackagesInstallResult> {
    static constexpr std::string_view name = "packages/install";
};

} // namespace cellgate::protocol
