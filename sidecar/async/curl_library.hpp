#pragma once
// `CurlLibrary` is the system's libcurl, loaded when the first HTTP request is made: linked, it and its thirty
// libraries would cost each start of the program, of which few speak HTTP. Private to the module.

#include <curl/curl.h>

namespace cellgate::async {

struct CurlLibrary {
    // Loads it once. Throws Error{internal_error} with a hint when there is none.
    static const CurlLibrary& get();

    decltype(&::curl_global_init) global_init;
    decltype(&::curl_free) free;
    decltype(&::curl_slist_append) slist_append;
    decltype(&::curl_slist_free_all) slist_free_all;
    decltype(&::curl_url) url;
    decltype(&::curl_url_cleanup) url_cleanup;
    decltype(&::curl_url_get) url_get;
    decltype(&::curl_url_set) url_set;
    decltype(&::curl_easy_init) easy_init;
    decltype(&::curl_easy_cleanup) easy_cleanup;
    decltype(&::curl_easy_pause) easy_pause;
    decltype(&::curl_easy_getinfo) easy_getinfo;
    decltype(&::curl_easy_recv) easy_recv;
    decltype(&::curl_easy_send) easy_send;
    decltype(&::curl_easy_setopt) easy_setopt;
    decltype(&::curl_easy_strerror) easy_strerror;
    decltype(&::curl_multi_init) multi_init;
    decltype(&::curl_multi_cleanup) multi_cleanup;
    decltype(&::curl_multi_setopt) multi_setopt;
    decltype(&::curl_multi_add_handle) multi_add_handle;
    decltype(&::curl_multi_remove_handle) multi_remove_handle;
    decltype(&::curl_multi_socket_action) multi_socket_action;
    decltype(&::curl_multi_info_read) multi_info_read;
};

} // namespace cellgate::async
