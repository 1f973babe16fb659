// Root and others differ in what the system lets them do: a sandbox must hold for both.

#include "machine.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

TEST_CASE("all of this holds for an unprivileged user too" * doctest::skip(::geteuid() != 0)) {
    // A copy, as the build directory may lie where only root can go.
    namespace fs = std::filesystem;
    Machine machine;
    machine.patience = std::chrono::minutes(15); // each of its programs has the usual
    fs::path copy = machine.root / "tests";
    fs::copy_file("/proc/self/exe", copy);
    fs::permissions(machine.root, fs::perms::owner_all | fs::perms::others_exec);
    fs::permissions(copy, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    async::Command command;
    command.argv = {"setpriv", "--reuid", "1001", "--regid", "1001", "--clear-groups", copy};
    command.cwd = "/";
    Ran ran = machine.run(Isolation::none, std::move(command));
    CHECK_MESSAGE(ran.status.success(), ran.out, ran.error);
}
