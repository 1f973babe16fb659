#include "sandbox_test.hpp"

#include "async/stream.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "sandbox_check.hpp"
#include "sandbox_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <set>
#include <tuple>
#include <unistd.h>

namespace cellgate::cli {

namespace {

struct Arguments {
    bool json = false;
    std::string launcher; // empty: the default
    std::string image;    // empty: the machine's system
    bool no_sandbox = false;
};

constexpr const char* explanation =
    R"(Attempts to get out run in the sandbox of a kernel, and once more without it where that harms nobody:
  held        the sandbox stopped it
  ESCAPED     it got out
  works       without the sandbox it works, so the sandbox is what held it
  refused     without the sandbox it is refused as well (to other users than root, say): it shows less
  lacks       it worked, as the limitations of that launcher say: of landlock, which is weaker; or on gVisor's own kernel
  -           not tried: without the sandbox it would do harm; or in it, as said below

Nothing of yours is touched: each attempt has a workspace, a home and things to reach of its own, in $TMPDIR. It takes some
seconds. The exit code is 0 when everything was held, 1 otherwise.)";

void show_progress(const std::string& id, std::size_t number, std::size_t count) {
    fmt::print(stderr, "\r\x1b[K{}/{} {}", number, count, id);
    std::fflush(stderr);
}

const char* word_inside(CheckStatus status) {
    switch (status) {
    case CheckStatus::held:
        return "held";
    case CheckStatus::escaped:
        return "ESCAPED";
    case CheckStatus::lacking:
        return "lacks";
    case CheckStatus::unclear:
        return "UNCLEAR";
    case CheckStatus::not_tried:
        break;
    }
    return "-";
}

const char* word_without(CheckStatus status) {
    return status == CheckStatus::escaped ? "works" : status == CheckStatus::not_tried ? "-" : "refused";
}

void print_table(SandboxCheckReport report) {
    std::sort(report.checks.begin(), report.checks.end(), [](const SandboxCheck& a, const SandboxCheck& b) {
        return std::tie(a.layer, a.id) < std::tie(b.layer, b.id);
    });
    constexpr std::string_view row = "{:<22} {:<27} {:<15} {:<8} {}\n";
    fmt::print(fmt::runtime(row), "layer", "attempt", "in the sandbox", "without", "");
    for (const SandboxCheck& check : report.checks) {
        fmt::print(fmt::runtime(row), check.layer, check.id, word_inside(check.inside.status),
                   word_without(check.without.status), check.title);
    }
}

std::size_t count_of(const SandboxCheckReport& report, CheckStatus status) {
    return static_cast<std::size_t>(
        std::count_if(report.checks.begin(), report.checks.end(),
                      [status](const SandboxCheck& t) { return t.inside.status == status; }));
}

void print_summary(const SandboxCheckReport& report) {
    std::set<std::string> reasons;
    for (const SandboxCheck& check : report.checks) {
        if (check.inside.status == CheckStatus::not_tried && !check.inside.detail.empty()) {
            reasons.insert(check.inside.detail);
        } else if (check.inside.status == CheckStatus::escaped || check.inside.status == CheckStatus::unclear) {
            fmt::print("\n{}: {}: {}", check.id, word_inside(check.inside.status), check.inside.detail);
        }
    }
    for (const std::string& reason : reasons) {
        fmt::print("\nnot tried: {}", reason);
    }
    const std::size_t lacking = count_of(report, CheckStatus::lacking);
    fmt::print("\n{} attempts: {} held, {} escaped, {}{} unclear, {} not tried\nthe layers that hold: {}\n",
               report.checks.size(), count_of(report, CheckStatus::held), count_of(report, CheckStatus::escaped),
               lacking == 0 ? "" : fmt::format("{} lacking, ", lacking), count_of(report, CheckStatus::unclear),
               count_of(report, CheckStatus::not_tried), fmt::join(report.layers, ", "));
}

struct Run {
    SandboxCheckReport report;
    std::exception_ptr error;
    int signal = 0; // that ended it
    Event ended;
};

Task<void> run_checks(async::Loop* loop, SandboxCheckOptions options, Run* run) {
    try {
        run->report = co_await check_sandbox(*loop, std::move(options));
    } catch (...) {
        run->error = std::current_exception();
    }
    run->ended.set();
}

// Only a check removes its own files: it is cancelled, and awaited.
Task<void> end_on_signal(async::Loop* loop, int signal, std::shared_ptr<CancelState> checks, Run* run) {
    co_await async::wait_for_signal(*loop, signal);
    run->signal = signal;
    checks->cancel();
}

Task<void> run_until_signal(async::Loop* loop, SandboxCheckOptions options, Run* run) {
    TaskScope tasks;
    const std::shared_ptr<CancelState> checks = tasks.spawn(run_checks(loop, std::move(options), run));
    for (const int signal : {SIGINT, SIGTERM}) {
        tasks.spawn(end_on_signal(loop, signal, checks, run));
    }
    co_await run->ended.wait();
    tasks.cancel();
    co_await tasks.join();
}

int test(const Arguments& arguments) {
    SandboxCheckOptions options;
    options.isolation = arguments.no_sandbox ? sandbox::Isolation::none : isolation_of(arguments.launcher);
    options.image = arguments.image;
    const bool at_terminal = ::isatty(STDERR_FILENO) == 1;
    if (at_terminal) {
        options.on_progress = show_progress;
    }
    Run run;
    async::Loop loop;
    loop.run(run_until_signal(&loop, std::move(options), &run));
    if (at_terminal) {
        fmt::print(stderr, "\r\x1b[K");
    }
    if (run.signal != 0) {
        return 128 + run.signal;
    }
    if (run.error) {
        std::rethrow_exception(run.error);
    }
    const SandboxCheckReport& report = run.report;
    if (arguments.json) {
        fmt::print("{}\n", to_json(report));
    } else {
        print_table(report);
        print_summary(report);
    }
    return report.held ? 0 : 1;
}

} // namespace

void add_sandbox_test(CLI::App& group, Invocation& invocation) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        group.add_subcommand("test", "Try to get out of the sandbox on this machine, and say what held");
    CLI::Option* launcher = add_sandbox_launcher(*command, arguments->launcher);
    CLI::Option* image = add_sandbox_image(*command, arguments->image);
    add_json(*command, arguments->json);
    // For the tests: proves that a sandbox which stops nothing is reported.
    command->add_flag("--no-sandbox", arguments->no_sandbox)->group("")->excludes(launcher)->excludes(image);
    command->footer(explanation);
    command->callback([arguments, &invocation] { invocation.run = [arguments] { return test(*arguments); }; });
}

} // namespace cellgate::cli
