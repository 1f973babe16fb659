#include "judge.hpp"

#include <sys/stat.h>

namespace cellgate::helper {

bool Judge::keeps(const Place& place) const {
    if (!rules_) {
        return names_.keep(place);
    }
    return !rules_->may_make(place) || names_.keep(place);
}

bool Judge::keeps_itself(const Place& place) const {
    return (rules_ && !rules_->may_make(place)) || names_.keep_itself(place);
}

bool Judge::keeps(const Held& held) const {
    if (!rules_) {
        return names_.keep(held);
    }
    return !rules_->may_write(held) || (!FileRules::is_anonymous(held) && names_.keep(held));
}

bool Judge::keeps_content(const Held& held) const {
    return (rules_ || S_ISREG(held.status.st_mode)) && keeps(held);
}

bool Judge::keeps_attributes(const Held& held) const {
    return !rules_ || !rules_->may_alter(held) || keeps(held);
}

bool Judge::hides(const Held& held) const {
    return rules_ && !rules_->may_read(held);
}

bool Judge::pins(const Place& place) const {
    return rules_ && rules_->is_pinned(path_of(place));
}

bool Judge::divides(const Place& from, const Place& to) const {
    return rules_ && !rules_->belong_together(from, to);
}

bool Judge::divides(const Held& from, const Place& to) const {
    return rules_ && !rules_->belong_together(from, to);
}

} // namespace cellgate::helper
