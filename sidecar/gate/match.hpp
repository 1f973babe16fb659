#pragma once
// `Match` is whether a condition of a rule holds. `unclear`: two readers of the value might disagree. An allow rule
// needs `yes`; for a deny or an ask rule `unclear` is enough.

namespace cellgate::gate {

enum class Match { no, unclear, yes };

} // namespace cellgate::gate
