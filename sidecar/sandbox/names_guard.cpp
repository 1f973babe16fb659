#include "names_guard.hpp"

#include "sandbox/guarded_files.hpp"
#include "system_call_filters.hpp"

namespace cellgate::sandbox {

void add_guard_filter(MountPlan& plan) {
    plan.file(std::string(guard_filter), "/.cellgate/guard-filter");
}

void add_guarded_names(MountPlan& plan, const std::vector<std::string>& shown) {
    std::string text;
    const auto add = [&text](std::string_view each) { text.append(each).push_back('\0'); };
    for (const std::string_view name : auto_run_names()) {
        add(name);
    }
    add("");
    for (const std::filesystem::path& place : plan.places_below("/")) {
        if (plan.at(place)->kind == MountPlan::Kind::scratch) {
            add(place.native());
        }
    }
    add("");
    for (const std::string& folder : shown) {
        add(folder);
    }
    add("");
    plan.file(std::move(text), "/.cellgate/guarded-names");
}

} // namespace cellgate::sandbox
