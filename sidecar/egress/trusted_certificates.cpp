#include "egress/trusted_certificates.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sstream>

namespace cellgate::egress {

namespace {

// Each names all authorities that its programs trust. The first is weaker than what code says itself, the others are
// stronger.
constexpr std::array<const char*, 5> names_of_all = {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",
                                                     "PIP_CERT", "AWS_CA_BUNDLE"};
// Each names authorities that its programs trust besides others.
constexpr std::array<const char*, 2> names_of_further = {"NODE_EXTRA_CA_CERTS", "DENO_CERT"};
// Where distributions keep them: Debian, Fedora, openSUSE, Alpine.
constexpr std::array<const char*, 4> places = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                               "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

std::string text_of(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

template <std::size_t count>
std::string given(const std::array<const char*, count>& names, const Environment& environment) {
    for (const char* name : names) {
        if (const auto found = environment.find(name); found != environment.end()) {
            return text_of(found->second);
        }
    }
    return {};
}

std::string of_this_machine() {
    for (const char* place : places) {
        if (std::string text = text_of(place); !text.empty()) {
            return text;
        }
    }
    return {};
}

void write_file(const std::string& path, const std::string& text) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid() || !write_all(file.get(), text)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path), errno);
    }
}

std::string path_of_all(const std::string& directory) {
    return directory + "/ca-certificates.pem";
}

std::string path_of_further(const std::string& directory) {
    return directory + "/ca-certificate.pem";
}

} // namespace

Environment trust_variables(const std::string& directory, bool also_strong) {
    Environment variables;
    for (const char* name : names_of_all) {
        if (also_strong || name == names_of_all.front()) {
            variables[name] = path_of_all(directory);
        }
    }
    for (const char* name : names_of_further) {
        variables[name] = path_of_further(directory);
    }
    return variables;
}

void make_inspection(Inspection& inspection, const std::string& name, const std::string& directory,
                     const Environment& environment) {
    std::string own;
    try {
        inspection.authority = std::make_shared<tls::CertificateAuthority>(name);
        own = inspection.authority->certificate_pem();
    } catch (const Error& error) {
        inspection.problem = fmt::format("{} {}", error.message, error.hint);
    }
    std::string all = given(names_of_all, environment);
    if (all.empty()) {
        all = of_this_machine();
    }
    write_file(path_of_all(directory), all + "\n" + own);
    write_file(path_of_further(directory), given(names_of_further, environment) + "\n" + own);
}

} // namespace cellgate::egress
