// The program between the sidecar and what it starts, one mode for each place where it stands: `supervise` outside of
// the sandbox, `enter` inside, `confine` where there are no namespaces; and `sweep`, which clears up after the sidecar.

#include "confine.hpp"
#include "enter.hpp"
#include "supervise.hpp"
#include "sweep.hpp"

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
    if (mode == "sweep") {
        return cellgate::helper::sweep_main();
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
    std::fputs("usage: cellgate supervise|sweep|enter|confine|can-guard …; this program is a part of cellgate\n",
               stderr);
    return usage_error;
}
