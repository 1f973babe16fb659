#include "access_policy.hpp"

#include <sys/stat.h>

namespace cellgate::helper {

bool AccessPolicy::denies_create(const Place& place) const {
    if (!rules_) {
        return names_.keep(place);
    }
    return !rules_->may_make(place) || names_.keep(place);
}

bool AccessPolicy::denies_create_of_itself(const Place& place) const {
    return (rules_ && !rules_->may_make(place)) || names_.keep_itself(place);
}

bool AccessPolicy::denies_create(const OpenNode& held) const {
    if (!rules_) {
        return names_.keep(held);
    }
    return !rules_->may_write(held) || (!FileRules::is_anonymous(held) && names_.keep(held));
}

bool AccessPolicy::denies_write(const OpenNode& held) const {
    return (rules_ || S_ISREG(held.status.st_mode)) && denies_create(held);
}

bool AccessPolicy::denies_attributes(const OpenNode& held) const {
    return !rules_ || !rules_->may_alter(held) || denies_create(held);
}

bool AccessPolicy::is_hidden(const OpenNode& held) const {
    return rules_ && !rules_->may_read(held);
}

bool AccessPolicy::is_pinned(const Place& place) const {
    return rules_ && rules_->is_pinned(path_of(place));
}

bool AccessPolicy::crosses_rules(const Place& from, const Place& to) const {
    return rules_ && !rules_->belong_together(from, to);
}

bool AccessPolicy::crosses_rules(const OpenNode& from, const Place& to) const {
    return rules_ && !rules_->belong_together(from, to);
}

} // namespace cellgate::helper
