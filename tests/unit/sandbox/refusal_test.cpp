// Where isolation is not available, nothing runs, and the error says why and what to do.

#include "base/error.hpp"
#include "launch/bwrap_probe.hpp"
#include "launch/landlock.hpp"
#include "machine.hpp"
#include "sandbox/doctor.hpp"

#include <doctest/doctest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

fs::path make_program(const Machine& machine, const std::string& text) {
    fs::path path = machine.root / "bin/bwrap";
    machine.write(path, "#!/bin/sh\n" + text);
    fs::permissions(path, fs::perms::owner_all);
    return path;
}

Error failure_of_probe(const fs::path& bwrap) {
    try {
        probe(bwrap);
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::internal_error, "the probe passed");
}

} // namespace

TEST_CASE("a missing bwrap is an error that says how to install it") {
    Machine machine;
    std::string directory = machine.root / "bin";
    try {
        find_bwrap({directory});
        FAIL("found");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::sandbox_unavailable);
        CHECK(mentions(error.message, directory));
        CHECK(mentions(error.hint, "apt install bubblewrap"));
        CHECK(mentions(error.hint, "--no-sandbox"));
    }
    fs::path own = make_program(machine, "exit 0");
    CHECK(find_bwrap({directory}) == own);
}

TEST_CASE("a bwrap that a workspace brings along by a relative PATH is not used, and the system's comes first") {
    std::vector<std::string> directories = bwrap_directories({{"PATH", "node_modules/.bin:.::/opt/bin"}});
    CHECK(directories == std::vector<std::string>{"/usr/bin", "/usr/local/bin", "/bin", "/opt/bin"});
}

TEST_CASE("a refused user namespace is an error with bwrap's own words, and the user's choice") {
    // bwrap within a sandbox that forbids further user namespaces: a real refusal.
    Machine machine;
    fs::path refused = make_program(
        machine, "exec /usr/bin/bwrap --dev-bind / / --unshare-user --disable-userns -- /usr/bin/bwrap \"$@\"\n");
    Error error = failure_of_probe(refused);
    CHECK(error.code == ErrorCode::sandbox_unavailable);
    CHECK(mentions(error.message, "bwrap: "));
    CHECK(mentions(error.message, refused));
    CHECK(mentions(error.hint, "--no-sandbox"));
}

TEST_CASE("a bwrap that isolates less than it was asked to is found out") {
    Machine machine;
    // It drops everything up to the command, and runs that as it is.
    fs::path lying = make_program(machine, "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n");
    Error error = failure_of_probe(lying);
    CHECK(error.code == ErrorCode::sandbox_unavailable);
    CHECK(mentions(error.message, "'user-namespace' does not hold"));
}

TEST_CASE("every known cause of a refusal has its own fix") {
    const std::string bwrap = "/usr/bin/bwrap";
    const std::string said = "bwrap: setting up uid map: Permission denied";
    CHECK(mentions(explain_refusal(bwrap, said, {.apparmor_restricts = true}).hint, "/etc/apparmor.d/bwrap"));
    CHECK(mentions(explain_refusal(bwrap, said, {.apparmor_restricts = true}).message, said));
    CHECK(mentions(explain_refusal(bwrap, said, {.clone_forbidden = true}).hint, "kernel.unprivileged_userns_clone=1"));
    CHECK(mentions(explain_refusal(bwrap, said, {.no_namespaces_allowed = true}).hint, "user.max_user_namespaces="));
    CHECK(mentions(explain_refusal(bwrap, said, {.in_container = true}).hint, "seccomp=unconfined"));
    CHECK(mentions(explain_refusal(bwrap, said, {.filtered = true}).hint, "RestrictNamespaces="));
    CHECK(mentions(explain_refusal(bwrap, "bwrap: Unknown option --disable-userns", {}).hint, "0.8.0"));
    // AppArmor does not restrict root, so it is not the cause there.
    CHECK_FALSE(mentions(explain_refusal(bwrap, said, {.root = true, .apparmor_restricts = true}).hint, "apparmor.d"));
    for (const HostFacts& facts : {HostFacts{}, HostFacts{.in_container = true}, HostFacts{.filtered = true}}) {
        CHECK(mentions(explain_refusal(bwrap, said, facts).hint, "sandbox: false"));
    }
}

TEST_CASE("a filter of system calls around us is noticed") {
    const pid_t child = ::fork();
    if (child == 0) {
        sock_filter allow_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog filter = {1, allow_all};
        const bool filtered =
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
        ::_exit(filtered && read_host_facts().filtered ? 0 : 1);
    }
    int status = 1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("the doctor names bwrap's version, the layers that hold, what is guarded, Landlock, and limits") {
    std::vector<Finding> findings = examine(process_environment());
    REQUIRE(findings.size() == 6);
    CHECK(findings[0].good);
    CHECK(mentions(findings[0].detail, "0."));
    CHECK(findings[1].good);
    CHECK(mentions(findings[1].detail, "no-nested-namespaces"));
    CHECK(findings[2].good); // what exists is guarded by mounts
    const bool guarded = probe(find_bwrap(bwrap_directories({}))).unguarded.empty();
    CHECK(mentions(findings[2].detail, guarded ? "can make none" : "can make one"));
    CHECK(findings[2].hint.empty() == guarded);
    CHECK(findings[3].good); // the mounts hold without
    CHECK(mentions(findings[3].detail, "the mounts of"));
    CHECK(mentions(findings[3].detail, "not available") != has_landlock());
    CHECK(findings[4].good); // there are always limits of each process
    CHECK(mentions(findings[4].detail, "memory "));
    CHECK(mentions(findings[4].detail, "processes "));
}
