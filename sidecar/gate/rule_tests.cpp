#include "rule_tests.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "columns.hpp"
#include "rules.hpp"

#include <fmt/format.h>

#include <vector>

namespace cellgate::gate {

namespace {

using protocol::ActionKind;
using protocol::Rule;

constexpr std::size_t max_tests = 100; // of a list
constexpr std::size_t max_test_bytes = std::size_t{64} << 10;

[[noreturn]] void refuse_tests(const std::string& message) {
    throw Error(ErrorCode::rule_invalid, message);
}

void check_list(const char* name, const std::optional<std::vector<RawJson>>& list) {
    if (!list) {
        return;
    }
    if (list->empty() || list->size() > max_tests) {
        refuse_tests(fmt::format("expected 1 to {} tests in {}, found {}", max_tests, name, list->size()));
    }
    for (const RawJson& arguments : *list) {
        if (json_type(arguments.text()) != "object" || arguments.text().size() > max_test_bytes) {
            refuse_tests(fmt::format("expected objects of arguments in {}, each of at most {} bytes, found another",
                                     name, max_test_bytes));
        }
    }
}

std::optional<std::string> first_failed(const Rule& rule, const char* name,
                                        const std::optional<std::vector<RawJson>>& list, bool wanted,
                                        PathSnapshot& paths) {
    if (!list) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        const RawJson& arguments = (*list)[i];
        const ArgumentsMatch found = match_arguments(rule, &arguments, paths);
        const bool decides =
            rule.effect == protocol::Effect::allow ? found.match == Match::yes : found.match != Match::no;
        if (decides != wanted) {
            const std::string which =
                fmt::format("its test {}[{}], {},", name, i, cut_to_line(arguments.text(), max_columns));
            if (wanted && found.condition != nullptr) {
                const auto& [pointer, matcher] = *found.condition;
                return fmt::format("{} is not matched: {} does not hold for it", which,
                                   describe_condition(pointer, matcher));
            }
            return fmt::format("{} {}", which, wanted ? "is not matched" : "is matched");
        }
    }
    return std::nullopt;
}

} // namespace

void check_tests(const Rule& rule) {
    if (!rule.tests) {
        return;
    }
    if (!rule.tests->match && !rule.tests->no_match) {
        refuse_tests("expected tests in match or noMatch, found none");
    }
    if (rule.kind == ActionKind::network || rule.kind == ActionKind::install || rule.kind == ActionKind::server ||
        rule.kind == ActionKind::output) {
        refuse_tests("expected tests only in a rule about tools or requests, found them in one of another kind");
    }
    check_list("match", rule.tests->match);
    check_list("noMatch", rule.tests->no_match);
}

std::optional<std::string> failed_test(const Rule& rule, PathSnapshot& paths) {
    if (!rule.tests) {
        return std::nullopt;
    }
    // Both, so that the paths of both are resolved together.
    std::optional<std::string> failed = first_failed(rule, "match", rule.tests->match, true, paths);
    std::optional<std::string> other = first_failed(rule, "noMatch", rule.tests->no_match, false, paths);
    return failed ? failed : other;
}

} // namespace cellgate::gate
