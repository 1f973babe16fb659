// The sandbox of builds: each attempt twice, without one (the control) and in one with the machine's network.

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "machine.hpp"
#include "sandbox/build.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

namespace fs = std::filesystem;

// A machine with a directory to build in, and somebody who listens on it: at a port, and at an abstract unix socket,
// which has no place in the file system that a mount could hide.
class BuildMachine : public Machine {
  public:
    BuildMachine()
        : directory(root / "build"), tcp_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          abstract_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        fs::create_directory(directory);
        fs::permissions(directory, fs::perms::owner_all);
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(tcp_.get(), reinterpret_cast<sockaddr*>(&here), sizeof here) == 0);
        REQUIRE(::listen(tcp_.get(), 8) == 0);
        socklen_t length = sizeof here;
        ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&here), &length);
        const std::string name = root.filename().string();
        sockaddr_un bus{};
        bus.sun_family = AF_UNIX;
        std::memcpy(bus.sun_path + 1, name.data(), name.size()); // behind a NUL: abstract
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        REQUIRE(::bind(abstract_.get(), reinterpret_cast<sockaddr*>(&bus), length) == 0);
        REQUIRE(::listen(abstract_.get(), 8) == 0);
        build.workspace = workspace;
        build.directory = directory;
        build.network = Network::host;
        variables = {{"PORT", std::to_string(ntohs(here.sin_port))}, {"BUS", name}};
    }

    Ran python_in_build(const std::string& program) {
        async::Command command;
        command.argv = {"/usr/bin/python3", "-c",
                        "import os, socket\nH, W = os.environ['H'], os.environ['W']\n"
                        "def T(attack):\n"
                        "    try: print('ESCAPED' if attack() else 'HELD')\n"
                        "    except BaseException as error: print('HELD', type(error).__name__, error)\n" +
                            program};
        command.environment = variables;
        command.environment.insert({{"H", home}, {"W", workspace}});
        const Launch launch = wrap_build(std::move(command), build, environment);
        return start(*make_launcher(Isolation::bwrap, environment), launch);
    }

    fs::path directory;
    BuildProfile build;

  private:
    UniqueFd tcp_;
    UniqueFd abstract_;
};

constexpr const char* attempts[] = {
    R"(T(lambda: "CANARY" in open(H+"/.ssh/id_rsa").read()))",
    R"(T(lambda: "data" in open(W+"/data.txt").read()))",
    R"(T(lambda: open(W+"/planted", "w").write("x")))",
    R"(T(lambda: open(H+"/.bashrc", "a").write("x") and "user's" in open(H+"/.bashrc").read()))",
    R"(T(lambda: os.listdir(os.path.dirname(W)) and os.path.exists(H+"/.ssh")))",
    R"(
def attack():
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + os.environ["BUS"])
    return True
T(attack))"};

constexpr const char* connect_by_tcp =
    "s = socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 30)\nprint('reached')";

} // namespace

TEST_CASE("a build sees no home and no workspace, and reaches no abstract socket of the machine") {
    for (const char* attempt : attempts) {
        CAPTURE(attempt);
        BuildMachine open;
        const Ran control = open.python(Isolation::none, attempt);
        CHECK_MESSAGE(control.out.starts_with("ESCAPED"), control.out, control.error);
        BuildMachine machine;
        const std::string before = machine.picture_of_workspace();
        const Ran ran = machine.python_in_build(attempt);
        CHECK_MESSAGE(ran.out.starts_with("HELD"), ran.out, ran.error);
        CHECK(machine.picture_of_workspace() == before);
    }
}

TEST_CASE("a build writes its directory, and its other files are removed with it") {
    BuildMachine machine;
    const Ran ran = machine.python_in_build("open('/cellgate/made', 'w').write('x')\n"
                                            "open('/tmp/x-' + os.environ['BUS'], 'w')\n"
                                            "open(os.path.expanduser('~/x'), 'w')\n"
                                            "T(lambda: open('/usr/planted', 'w'))\n"
                                            "T(lambda: open('/etc/planted', 'w'))\n"
                                            "T(lambda: open('/planted', 'w'))\n"
                                            "print(os.getcwd() == os.environ['HOME'])");
    CHECK_MESSAGE(ran.status.success(), ran.error);
    CHECK(ran.error == "");
    CHECK(ran.out.find("ESCAPED") == std::string::npos);
    CHECK(ran.out.ends_with("True\n"));
    CHECK(machine.read(machine.directory / "made") == "x");
    CHECK_FALSE(fs::exists(fs::temp_directory_path() / ("x-" + machine.variables["BUS"])));
    CHECK_FALSE(fs::exists(machine.home / "x"));
}

TEST_CASE("a build has the machine's network only if it is given, and its layers say so") {
    BuildMachine machine;
    const auto names_network = [](const Ran& ran) {
        return std::find(ran.layers.begin(), ran.layers.end(), "network-namespace") != ran.layers.end();
    };
    const Ran reached = machine.python_in_build(connect_by_tcp);
    CHECK_MESSAGE(reached.out == "reached\n", reached.error);
    CHECK_FALSE(names_network(reached));
    CHECK(reached.layers.front() == "bwrap");
    machine.build.network = Network::none;
    const Ran cut_off = machine.python_in_build(connect_by_tcp);
    CHECK(cut_off.out == "");
    CHECK(names_network(cut_off));
}

TEST_CASE("of the workspace a build sees a virtual environment that it is shown, read-only") {
    BuildMachine machine;
    machine.write(machine.workspace / ".venv/lib/x.py", "venv");
    machine.build.read_only = {machine.workspace / ".venv"};
    const Ran ran = machine.python_in_build("print(open(W+'/.venv/lib/x.py').read(), os.listdir(W))\n"
                                            "T(lambda: open(W+'/.venv/lib/x.py', 'w'))");
    CHECK_MESSAGE(ran.out.starts_with("venv ['.venv']\nHELD"), ran.out, ran.error);
}

TEST_CASE("what would show the workspace, the home or cellgate's own files to a build is refused") {
    BuildMachine machine;
    for (const fs::path& shown : {machine.workspace, machine.home, machine.root}) {
        CAPTURE(shown);
        machine.build.read_only = {shown};
        CHECK_THROWS_AS(machine.python_in_build("pass"), Error);
    }
    fs::create_directories(machine.root / "data/cellgate");
    machine.build.hidden = {machine.root / "data/cellgate"};
    machine.build.read_only = {machine.root / "data"};
    CHECK_THROWS_AS(machine.python_in_build("pass"), Error);
    machine.build.read_only = {};
    fs::permissions(machine.directory, fs::perms::owner_all | fs::perms::others_read);
    CHECK_THROWS_AS(machine.python_in_build("pass"), Error);
    fs::permissions(machine.directory, fs::perms::owner_all);
    CHECK(machine.python_in_build("pass").status.success());
}

TEST_CASE("a kernel reads what was installed, in the midst of what it must not see, and cannot change it") {
    const std::string attack =
        "P = os.environ['PACKAGES']\nprint(open(P + '/module.py').read())\n"
        "T(lambda: open(P + '/module.py', 'w'))\nT(lambda: (os.mkdir(P + '/more'), 1)[1])\n"
        "T(lambda: (os.rename(P, P + '2'), 1)[1])\nT(lambda: os.listdir(os.path.dirname(P)) != ['p'])\n";
    const auto machine_with_packages = [](Machine& machine) {
        machine.write(machine.root / "data/cellgate/p/module.py", "installed");
        machine.write(machine.root / "data/cellgate/other/secret", "CANARY");
        machine.profile.hidden = {machine.root / "data/cellgate"};
        machine.profile.packages = machine.root / "data/cellgate/p";
        machine.variables["PACKAGES"] = machine.profile.packages;
    };
    Machine open;
    machine_with_packages(open);
    fs::remove(open.root / "data/cellgate/other/secret");
    const Ran control = open.python(Isolation::none, attack);
    CHECK_MESSAGE(control.out.find("HELD") == std::string::npos, control.out);
    Machine machine;
    machine_with_packages(machine);
    const Ran ran = machine.python(Isolation::bwrap, attack);
    CHECK_MESSAGE(ran.out.starts_with("installed\n"), ran.out, ran.error);
    CHECK(ran.out.find("ESCAPED") == std::string::npos);
    CHECK(machine.read(machine.root / "data/cellgate/p/module.py") == "installed");
}
