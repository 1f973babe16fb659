#pragma once
// `TypescriptSupport` is the support of Deno's kernel, for TypeScript and JavaScript. Deno has all of its permissions:
// the sandbox is the boundary.

#include "plain_support.hpp"

namespace cellgate::session {

class TypescriptSupport final : public PlainSupport {
  public:
    using PlainSupport::PlainSupport;

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<std::string> chdir_code(const std::string& directory) const override;
    FailureCauses causes_of(const Failure& failure) const override;
    // While code waits for a promise, Deno takes an interrupt and then answers nothing more.
    bool may_hang_when_interrupted() const override { return true; }
};

} // namespace cellgate::session
