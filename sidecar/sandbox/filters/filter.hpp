#pragma once
// `Filter` is a filter of system calls that is being built. A call that no rule names is allowed.

#include <seccomp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace cellgate::sandbox {

// Newer than the library's table; the same number on every architecture.
inline constexpr int call_fchmodat2 = 452;
// Of the library, for Filter::ask().
inline constexpr unsigned api_with_notifications = 5;

class Filter {
  public:
    // All throw std::system_error.
    Filter();

    // With error 0 the call does nothing and says that it did.
    template <class... Conditions>
    void refuse(int error, int call, Conditions... conditions) {
        add(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), call, conditions...);
    }

    // The call waits until the process that listens has answered it.
    template <class... Conditions>
    void ask(int call, Conditions... conditions) {
        add(SCMP_ACT_NOTIFY, call, conditions...);
    }

    // As the kernel takes it: an array of sock_filter.
    std::string compiled() const;

  private:
    template <class... Conditions>
    void add(std::uint32_t action, int call, Conditions... conditions) {
        const std::array<scmp_arg_cmp, sizeof...(conditions)> all = {conditions...};
        require(::seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(all.size()), all.data()));
    }
    static void require(int result);

    std::unique_ptr<void, decltype(&::seccomp_release)> context_;
};

// Argument `number`: all bits of `bits` set; of those of `mask` just these; its low half this value; as a whole beyond
// it, or another one.
scmp_arg_cmp has_bits(unsigned number, std::uint64_t bits);
scmp_arg_cmp has_of(unsigned number, std::uint64_t mask, std::uint64_t bits);
scmp_arg_cmp is(unsigned number, std::uint64_t value);
scmp_arg_cmp is_beyond(unsigned number, std::uint64_t value);
scmp_arg_cmp is_not(unsigned number, std::uint64_t value);

} // namespace cellgate::sandbox
