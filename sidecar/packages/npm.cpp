#include "packages/npm.hpp"

#include "base/private_files.hpp"
#include "packages/build_runner.hpp"
#include "packages/npm_packages.hpp"

#include <fmt/format.h>

#include <array>

namespace cellgate::packages {

namespace {

// What a user's environment says about where packages come from.
constexpr std::array deno_variables = {"NPM_CONFIG_REGISTRY",
                                       "NPM_CONFIG_MIN_RELEASE_AGE",
                                       "DENO_CERT",
                                       "DENO_TLS_CA_STORE",
                                       "SSL_CERT_FILE",
                                       "SSL_CERT_DIR",
                                       "http_proxy",
                                       "https_proxy",
                                       "no_proxy",
                                       "HTTP_PROXY",
                                       "HTTPS_PROXY",
                                       "NO_PROXY"};
// Of these, the ones that name a file or folder.
constexpr std::array deno_certificates = {"DENO_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR"};

// Deno makes node_modules and its lockfile beside its configuration.
constexpr const char* configuration = "/packages/deno.json";

} // namespace

Npm::Npm(const store::Directories& directories, std::string root, const Environment& environment, jupyter::Deno deno,
         std::vector<std::string> packages, bool scripts)
    : directories_(directories), root_(std::move(root)), index_settings_(chosen_variables(environment, deno_variables)),
      deno_(std::move(deno)), packages_(std::move(packages)), scripts_(scripts) {}

Task<std::vector<std::string>> Npm::find_command() {
    std::vector<std::string> command = {deno_.program, "cache", "--config"};
    command.push_back(std::string(sandbox::build_place) + configuration);
    command.emplace_back("--node-modules-dir=auto");
    if (scripts_) {
        command.emplace_back("--allow-scripts");
    }
    command.insert(command.end(), packages_.begin(), packages_.end());
    co_return command;
}

Environment Npm::environment() const {
    const std::string scratch = std::string(sandbox::build_place) + "/tmp";
    Environment environment = index_settings_;
    environment.insert({{"DENO_DIR", scratch + "/deno"},
                        {"DENO_NO_PROMPT", "1"},
                        {"DENO_NO_UPDATE_CHECK", "1"},
                        {"NO_COLOR", "1"},
                        {"TMPDIR", scratch}});
    return environment;
}

std::vector<std::string> Npm::read_only() const {
    std::vector<std::string> paths = existing_files(index_settings_, deno_certificates);
    paths.push_back(deno_.real_program);
    return paths;
}

std::unique_ptr<PackageFolder> Npm::open_folder() const {
    return std::make_unique<NpmPackages>(directories_, root_, scripts_);
}

void Npm::prepare(const std::string& directory) const {
    const std::string path = directory + configuration;
    write_new_file(path, "{}\n");
}

std::string Npm::last_words(const std::string& errors) const {
    return packages::last_words(errors, "error: ");
}

} // namespace cellgate::packages
