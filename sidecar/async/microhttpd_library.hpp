#pragma once
// `MicrohttpdLibrary` is the system's libmicrohttpd, loaded when the first HTTP server listens: few runs of the program
// have one. Private to the module.

#include <microhttpd.h>

namespace cellgate::async {

struct MicrohttpdLibrary {
    // Loads it once. Throws Error{internal_error} with a hint when there is none.
    static const MicrohttpdLibrary& get();

    decltype(&::MHD_start_daemon) start_daemon;
    decltype(&::MHD_stop_daemon) stop_daemon;
    decltype(&::MHD_get_daemon_info) get_daemon_info;
    decltype(&::MHD_run) run;
    decltype(&::MHD_get_timeout) get_timeout;
    decltype(&::MHD_get_connection_info) get_connection_info;
    decltype(&::MHD_get_connection_values_n) get_connection_values_n;
    decltype(&::MHD_suspend_connection) suspend_connection;
    decltype(&::MHD_resume_connection) resume_connection;
    decltype(&::MHD_create_response_from_buffer) create_response_from_buffer;
    decltype(&::MHD_create_response_from_callback) create_response_from_callback;
    decltype(&::MHD_add_response_header) add_response_header;
    decltype(&::MHD_queue_response) queue_response;
    decltype(&::MHD_destroy_response) destroy_response;
};

} // namespace cellgate::async
