#pragma once
// `adopt` defines who owns a libuv handle: until libuv's close callback the handle holds a shared_ptr to the object
// that it is a member of, so the object outlives all accesses by libuv.

#include "base/error.hpp"

#include <uv.h>

#include <memory>

namespace cellgate::async {

template <class Handle, class Owner>
void adopt(Handle& handle, std::shared_ptr<Owner> owner) {
    handle.data = new std::shared_ptr<Owner>(std::move(owner));
}

// The owner, kept alive for the duration of the callback.
template <class Owner, class Handle>
std::shared_ptr<Owner> owner_of(Handle* handle) {
    return *static_cast<std::shared_ptr<Owner>*>(handle->data);
}

// Closes an adopted handle; closing twice is harmless while the caller holds the owner.
template <class Owner, class Handle>
void close_handle(Handle& handle) {
    auto* base = reinterpret_cast<uv_handle_t*>(&handle);
    if (uv_is_closing(base) == 0) {
        uv_close(base, [](uv_handle_t* closed) { delete static_cast<std::shared_ptr<Owner>*>(closed->data); });
    }
}

// Error{internal_error} out of libuv's negative status.
inline Error uv_error(const std::string& what_failed, int status) {
    return system_error(ErrorCode::internal_error, what_failed, -status);
}

} // namespace cellgate::async
