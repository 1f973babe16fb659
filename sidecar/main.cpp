#include "cli/cli.hpp"

#include <malloc.h>

int main(int argc, char** argv) {
    // Output comes in pieces of tens of kilobytes to megabytes that live for a moment. By its own measure, malloc would
    // take the memory of each from the system, and give it back.
    constexpr int kept = 4 << 20;
    mallopt(M_MMAP_THRESHOLD, kept);
    mallopt(M_TRIM_THRESHOLD, kept);
    return cellgate::cli::main(argc, argv);
}
