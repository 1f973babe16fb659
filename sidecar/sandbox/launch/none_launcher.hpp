#pragma once
// `NoneLauncher` is the launcher without isolation, which only a user can choose: the command starts as it is, in this
// process's environment.

#include "sandbox/launcher.hpp"

namespace cellgate::sandbox {

class NoneLauncher : public Launcher {
  public:
    static const IsolationTraits traits;

    explicit NoneLauncher(Environment environment) : environment_(std::move(environment)) {}

    void check() override {}
    Launch wrap(async::Command command, const Profile& profile) override;
    void check_limits(const Limits& limits) const override;
    async::ExitStatus exit_of(async::ExitStatus outer) const override { return outer; }

  private:
    Environment environment_;
};

} // namespace cellgate::sandbox
