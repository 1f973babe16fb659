#pragma once
// Tries a sandbox on this machine: each attempt of sidecar/kernel/escapes.py runs in a kernel's sandbox and, where
// that harms nobody, once more without it, which shows that the sandbox is what held it. Nothing of the person's is
// touched: each attempt has a workspace, a home with a secret that is none, and things to reach of its own.

#include "async/loop.hpp"
#include "base/json_codec.hpp"
#include "sandbox/launcher.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace cellgate::cli {

enum class Outcome { held, escaped, lacking, unclear, not_tried };
inline constexpr EnumNames<Outcome, 5> enum_names(Outcome) {
    return {{{Outcome::held, "held"},
             {Outcome::escaped, "escaped"},
             {Outcome::lacking, "lacking"}, // it got out, where this sandbox says that it does not hold

             {Outcome::unclear, "unclear"},
             {Outcome::not_tried, "notTried"}}};
}

struct Try {
    Outcome outcome = Outcome::not_tried;
    std::string detail; // in the attempt's own words, or why it was not tried
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("outcome", self.outcome);
        visit("detail", self.detail);
    }
};

struct Trial {
    std::string id; // as in tests/unit/sandbox/ESCAPES.md
    std::string title;
    std::string layer; // that should stop it
    Try inside;
    Try without;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
        visit("title", self.title);
        visit("layer", self.layer);
        visit("inSandbox", self.inside);
        visit("without", self.without);
    }
};

struct TrialReport {
    std::vector<Trial> trials;
    std::vector<std::string> layers;
    bool held = true; // nothing got out but where that is said before, and nothing was left unclear
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("held", self.held);
        visit("layers", self.layers);
        visit("attempts", self.trials);
    }
};

struct TrialOptions {
    sandbox::Isolation isolation = sandbox::Isolation::bwrap; // none: the control of the whole
    std::function<void(const std::string& id, std::size_t number, std::size_t count)> on_progress;
};

// Throws Error{sandbox_unavailable, kernel_not_found, internal_error}.
Task<TrialReport> try_sandbox(async::Loop& loop, TrialOptions options);

} // namespace cellgate::cli
