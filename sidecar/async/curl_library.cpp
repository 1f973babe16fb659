#include "curl_library.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace cellgate::async {

namespace {

constexpr const char* library_name = "libcurl.so.4"; // the same interface since 2006

Error unusable(std::string_view why) {
    return Error(ErrorCode::internal_error, fmt::format("HTTP needs {}: {}", library_name, why),
                 "On Debian and Ubuntu: sudo apt install libcurl4");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) {
        throw unusable(fmt::format("it has no {}", name));
    }
}

CurlLibrary load() {
    void* library = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw unusable(::dlerror());
    }
    CurlLibrary curl{};
    find(library, "curl_global_init", curl.global_init);
    find(library, "curl_free", curl.free);
    find(library, "curl_slist_append", curl.slist_append);
    find(library, "curl_slist_free_all", curl.slist_free_all);
    find(library, "curl_url", curl.url);
    find(library, "curl_url_cleanup", curl.url_cleanup);
    find(library, "curl_url_get", curl.url_get);
    find(library, "curl_url_set", curl.url_set);
    find(library, "curl_easy_init", curl.easy_init);
    find(library, "curl_easy_cleanup", curl.easy_cleanup);
    find(library, "curl_easy_pause", curl.easy_pause);
    find(library, "curl_easy_getinfo", curl.easy_getinfo);
    find(library, "curl_easy_recv", curl.easy_recv);
    find(library, "curl_easy_send", curl.easy_send);
    find(library, "curl_easy_setopt", curl.easy_setopt);
    find(library, "curl_easy_strerror", curl.easy_strerror);
    find(library, "curl_multi_init", curl.multi_init);
    find(library, "curl_multi_cleanup", curl.multi_cleanup);
    find(library, "curl_multi_setopt", curl.multi_setopt);
    find(library, "curl_multi_add_handle", curl.multi_add_handle);
    find(library, "curl_multi_remove_handle", curl.multi_remove_handle);
    find(library, "curl_multi_socket_action", curl.multi_socket_action);
    find(library, "curl_multi_info_read", curl.multi_info_read);
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        throw unusable("it cannot be initialised");
    }
    return curl;
}

} // namespace

const CurlLibrary& CurlLibrary::get() {
    static const CurlLibrary curl = load();
    return curl;
}

} // namespace cellgate::async
