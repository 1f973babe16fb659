#include "microhttpd_library.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace cellgate::async {

namespace {

constexpr const char* microhttpd_name = "libmicrohttpd.so.12"; // the same interface since 0.9.34

Error microhttpd_unusable(std::string_view why) {
    return Error(ErrorCode::internal_error, fmt::format("serving HTTP needs {}: {}", microhttpd_name, why),
                 "On Debian 12 and Ubuntu 22.04: sudo apt install libmicrohttpd12; on newer ones: libmicrohttpd12t64");
}

template <class Function>
void find_in_microhttpd(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) {
        throw microhttpd_unusable(fmt::format("it has no {}", name));
    }
}

MicrohttpdLibrary load_microhttpd() {
    void* library = ::dlopen(microhttpd_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw microhttpd_unusable(::dlerror());
    }
    MicrohttpdLibrary http{};
    find_in_microhttpd(library, "MHD_start_daemon", http.start_daemon);
    find_in_microhttpd(library, "MHD_stop_daemon", http.stop_daemon);
    find_in_microhttpd(library, "MHD_get_daemon_info", http.get_daemon_info);
    find_in_microhttpd(library, "MHD_run", http.run);
    find_in_microhttpd(library, "MHD_get_timeout", http.get_timeout);
    find_in_microhttpd(library, "MHD_get_connection_info", http.get_connection_info);
    find_in_microhttpd(library, "MHD_get_connection_values_n", http.get_connection_values_n);
    find_in_microhttpd(library, "MHD_suspend_connection", http.suspend_connection);
    find_in_microhttpd(library, "MHD_resume_connection", http.resume_connection);
    find_in_microhttpd(library, "MHD_create_response_from_buffer", http.create_response_from_buffer);
    find_in_microhttpd(library, "MHD_create_response_from_callback", http.create_response_from_callback);
    find_in_microhttpd(library, "MHD_add_response_header", http.add_response_header);
    find_in_microhttpd(library, "MHD_queue_response", http.queue_response);
    find_in_microhttpd(library, "MHD_destroy_response", http.destroy_response);
    return http;
}

} // namespace

const MicrohttpdLibrary& MicrohttpdLibrary::get() {
    static const MicrohttpdLibrary http = load_microhttpd();
    return http;
}

} // namespace cellgate::async
