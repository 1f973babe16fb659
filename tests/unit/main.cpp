// The main of every unit test executable. It is also the supervisor of the processes that a test starts, as
// /proc/self/exe is in the product.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#if __has_include("async/supervise.hpp")
#include "async/supervise.hpp"
#endif

int main(int argc, char** argv) {
#if __has_include("async/supervise.hpp")
    if (argc > 1 && std::string_view(argv[1]) == "supervise") {
        return cellgate::async::supervise_main(argc - 1, argv + 1);
    }
#endif
    return doctest::Context(argc, argv).run();
}
