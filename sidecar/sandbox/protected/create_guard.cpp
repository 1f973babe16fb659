#include "protected/create_guard.hpp"

#include "filters/system_call_filters.hpp"
#include "mounts/paths.hpp"
#include "sandbox/protected_files.hpp"

#include <algorithm>

namespace cellgate::sandbox {

void add_guard_filter(MountPlan& plan) {
    plan.file(std::string(guard_filter), "/.cellgate/guard-filter");
}

std::string list_protected_names(const MountPlan& plan, const NamePlaces& where) {
    std::string text;
    const auto add = [&text](std::string_view each) { text.append(each).push_back('\0'); };
    for (const std::string_view name : auto_run_names()) {
        add(name);
    }
    for (const std::vector<std::string>& list : {where.scratch, where.shown, where.own}) {
        add("");
        for (const std::string& place : list) {
            add(place);
        }
    }
    add("");
    for (const std::string& place : plan.guarded_places()) {
        const bool lies_in_one = std::any_of(where.shown.begin(), where.shown.end(), [&](const std::string& top) {
            return place != top && is_within(place, top);
        });
        if (lies_in_one) {
            add(place);
        }
    }
    add("");
    return text;
}

void add_protected_names(MountPlan& plan, const std::vector<std::string>& shown) {
    std::vector<std::string> scratch;
    for (const auto& [place, mount] : plan.mounts()) {
        if (mount.kind == Mount::Kind::scratch) {
            scratch.push_back(mount.place);
        }
    }
    plan.file(list_protected_names(plan, {scratch, shown, {}}), "/.cellgate/protected-names");
}

} // namespace cellgate::sandbox
