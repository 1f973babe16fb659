#include "start_state.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::session;

namespace {

struct Machine {
    Machine() {
        std::filesystem::create_directories(packages);
        choice.interpreter.emplace();
        choice.interpreter->prefix = choice.interpreter->base_prefix = folder.path;
        command.argv = {folder.path / "python3"};
    }
    StartState state() const { return state_of_start(choice, command, profile); }
    void install(const char* package) const { std::ofstream(packages / package) << "\n"; }

    const TempFolder folder;
    const std::filesystem::path packages = folder.path / "lib/python3/site-packages";
    jupyter::KernelChoice choice;
    async::Command command;
    sandbox::Profile profile;
};

} // namespace

TEST_CASE("a package that came is a difference") {
    const Machine machine;
    const StartState before = machine.state();
    CHECK_FALSE(difference_of(before, machine.state()));
    machine.install("one.py");
    CHECK(difference_of(before, machine.state()) == "its interpreter or its packages have changed");
}

TEST_CASE("in an image the machine's packages are none, and another image is a difference") {
    Machine machine;
    sandbox::Image image;
    image.id = "one";
    machine.profile.image = std::make_shared<const sandbox::Image>(std::move(image));
    const StartState before = machine.state();
    machine.install("one.py");
    CHECK_FALSE(difference_of(before, machine.state()));
    sandbox::Image other;
    other.id = "other";
    machine.profile.image = std::make_shared<const sandbox::Image>(std::move(other));
    CHECK(difference_of(before, machine.state()) == "its interpreter or its packages have changed");
}
