// The program between the sidecar and what it starts, one mode for each place where it stands: `supervise` outside of
// the sandbox, `enter` inside, `confine` where there are no namespaces; and `janitor`, which removes the sidecar's
// temporary files.

#include "confine.hpp"
#include "enter.hpp"
#include "janitor.hpp"
#include "supervise.hpp"

#include <cstdio>
#include <string_view>
#include <sys/prctl.h>

int main(int argc, char** argv) {
    constexpr int usage_error = 2;
    ::prctl(PR_SET_NAME, "cellgate-helper"); // it is started by a descriptor, whose number would be its name
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode == "supervise") {
        return cellgate::helper::supervise_main(argc - 1, argv + 1);
    }
    if (mode == "janitor") {
        return cellgate::helper::janitor_main();
    }
    if (mode == "enter") {
        return cellgate::helper::enter_main(argc - 1, argv + 1);
    }
    if (mode == "confine") {
        return cellgate::helper::confine_main(argc - 1, argv + 1);
    }
    if (mode == "can-confine") {
        return cellgate::helper::can_confine_main();
    }
    if (mode == "can-guard") {
        return cellgate::helper::can_guard_main();
    }
    std::fputs("usage: cellgate supervise|janitor|enter|confine|can-guard …; this program is a part of cellgate\n",
               stderr);
    return usage_error;
}
