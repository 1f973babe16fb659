// Part of the build: writes the compiled filters of system calls as a C++ source to stdout.

#include "filters/confined_rules.hpp"
#include "filters/guard_rules.hpp"
#include "filters/system_call_rules.hpp"

#include <cstdio>
#include <string_view>
#include <system_error>

namespace {

void write_array(const char* name, std::string_view bytes) {
    std::printf("const unsigned char %s_bytes[] = {", name);
    for (const char byte : bytes) {
        std::printf("%u,", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    }
    std::printf("};\n");
}

} // namespace

int main() {
    try {
        std::puts("#include \"filters/system_call_filters.hpp\"\nnamespace cellgate::sandbox {\nnamespace {");
        for (const char* name : {"without_network", "with_network"}) {
            const bool with_unix_sockets = std::string_view(name) == "without_network";
            write_array(name, cellgate::sandbox::compile_system_call_filter(with_unix_sockets));
        }
        write_array("runtime", cellgate::sandbox::compile_runtime_filter());
        write_array("guard", cellgate::sandbox::compile_guard_filter());
        write_array("confined", cellgate::sandbox::compile_confined_filter());
        std::puts("}");
        for (const char* name : {"without_network", "with_network", "runtime", "guard", "confined"}) {
            std::printf("const std::string_view %s_filter(reinterpret_cast<const char*>(%s_bytes), sizeof %s_bytes);\n",
                        name, name, name);
        }
        std::puts("}");
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "cannot compile the filters of system calls: %s\n", error.what());
        return 1;
    }
    return 0;
}
