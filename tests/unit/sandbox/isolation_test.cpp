#include "sandbox/launcher.hpp"

#include <doctest/doctest.h>

using namespace cellgate::sandbox;

TEST_CASE("what each launcher offers") {
    const IsolationTraits& bwrap = traits_of(Isolation::bwrap);
    CHECK(bwrap.name == "bwrap");
    CHECK((bwrap.isolates && bwrap.mounts && bwrap.own_network && bwrap.installs && bwrap.agents));
    CHECK(bwrap.limitations.empty());

    const IsolationTraits& gvisor = traits_of(Isolation::gvisor);
    CHECK(gvisor.name == "gvisor");
    CHECK((gvisor.isolates && gvisor.mounts && gvisor.own_network && gvisor.installs && gvisor.agents));
    CHECK_FALSE(gvisor.weaker);
    CHECK(gvisor.limitations.size() == 6);

    const IsolationTraits& landlock = traits_of(Isolation::landlock);
    CHECK(landlock.name == "landlock");
    CHECK((landlock.isolates && landlock.weaker));
    CHECK_FALSE((landlock.mounts || landlock.own_network || landlock.installs || landlock.agents));
    CHECK(landlock.limitations.size() == 11);

    const IsolationTraits& none = traits_of(Isolation::none);
    CHECK(none.name == "none");
    CHECK(none.installs);
    CHECK_FALSE((none.isolates || none.mounts || none.own_network || none.agents));
}

TEST_CASE("a kind is found by its name, and those without isolation are no sandbox to choose") {
    for (const Isolation isolation : {Isolation::bwrap, Isolation::gvisor, Isolation::landlock, Isolation::none}) {
        CHECK(find_isolation(traits_of(isolation).name) == isolation);
    }
    CHECK_FALSE(find_isolation("docker"));
    CHECK(sandbox_names() == std::vector<std::string>{"bwrap", "gvisor", "landlock"});
}

TEST_CASE("what agents may run in without a user's word isolates and holds no less than the default") {
    for (const Isolation isolation : {Isolation::bwrap, Isolation::gvisor, Isolation::landlock, Isolation::none}) {
        const IsolationTraits& traits = traits_of(isolation);
        CHECK((!traits.agents || (traits.isolates && !traits.weaker)));
    }
}
