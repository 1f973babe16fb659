#pragma once
// `check_sandbox` is the test of a sandbox on this machine: each attempt of sidecar/kernel/escapes runs in a
// kernel's sandbox and, if it is harmless, once more without it, which proves that the sandbox stopped it. Nothing of
// the user's is touched: each attempt has its own workspace, a home with a fake secret, and targets of its own.

#include "async/loop.hpp"
#include "base/json_codec.hpp"
#include "sandbox/isolation.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace cellgate::cli {

enum class CheckStatus { held, escaped, lacking, unclear, not_tried };
inline constexpr EnumNames<CheckStatus, 5> enum_names(CheckStatus) {
    return {{{CheckStatus::held, "held"},
             {CheckStatus::escaped, "escaped"},
             {CheckStatus::lacking, "lacking"}, // it escaped, by a documented limitation of this sandbox
             {CheckStatus::unclear, "unclear"},
             {CheckStatus::not_tried, "notTried"}}};
}

struct Outcome {
    CheckStatus status = CheckStatus::not_tried;
    std::string detail; // the attempt's own message, or why it was not tried
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("outcome", self.status);
        visit("detail", self.detail);
    }
};

struct SandboxCheck {
    std::string id; // as in tests/unit/sandbox/ESCAPES.md
    std::string title;
    std::string layer; // that should stop it
    Outcome inside;
    Outcome without;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
        visit("title", self.title);
        visit("layer", self.layer);
        visit("inSandbox", self.inside);
        visit("without", self.without);
    }
};

struct SandboxCheckReport {
    std::vector<SandboxCheck> checks;
    std::vector<std::string> layers;
    bool held = true; // no attempt escaped (documented limitations apart) or was unclear
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("held", self.held);
        visit("layers", self.layers);
        visit("attempts", self.checks);
    }
};

struct SandboxCheckOptions {
    sandbox::Isolation isolation = sandbox::default_isolation; // none: the control
    std::string image;                                         // whose Python makes the attempts; empty: the machine's
    std::function<void(const std::string& id, std::size_t number, std::size_t count)> on_progress;
};

// Throws Error{sandbox_unavailable, kernel_not_found, config_invalid, internal_error}.
Task<SandboxCheckReport> check_sandbox(async::Loop& loop, SandboxCheckOptions options);

} // namespace cellgate::cli
