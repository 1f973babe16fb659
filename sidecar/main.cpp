#include "cli/cli.hpp"

int main(int argc, char** argv) {
    return cellgate::cli::main(argc, argv);
}
