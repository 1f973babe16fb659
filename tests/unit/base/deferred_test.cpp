#include "base/task.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace cellgate;

namespace {

Task<void> await_deferred(Task<std::string> task, std::string* outcome) {
    try {
        *outcome = co_await std::move(task);
    } catch (const Cancelled&) {
        *outcome = "cancelled";
    } catch (const Error& error) {
        *outcome = error.message;
    }
}

Task<void> resolve_and_forget(std::unique_ptr<Deferred<std::string>>* deferred) {
    (*deferred)->resolve("kept");
    deferred->reset();
    co_return;
}

} // namespace

TEST_CASE("a deferred value reaches its awaiter, whichever comes first") {
    std::string outcome;
    TaskScope scope;
    Deferred<std::string> deferred;
    SUBCASE("the value") {
        deferred.resolve("value");
        scope.spawn(await_deferred(deferred.get(), &outcome));
    }
    SUBCASE("the awaiter") {
        scope.spawn(await_deferred(deferred.get(), &outcome));
        CHECK(outcome.empty());
        deferred.resolve("value");
    }
    CHECK(outcome == "value");
    CHECK(deferred.settled());
}

TEST_CASE("a deferred value is settled once") {
    std::string outcome;
    TaskScope scope;
    Deferred<std::string> deferred;
    deferred.reject(std::make_exception_ptr(Error(ErrorCode::denied, "no")));
    deferred.resolve("late");
    scope.spawn(await_deferred(deferred.get(), &outcome));
    CHECK(outcome == "no");
}

TEST_CASE("a deferred value may go away as soon as it is settled") {
    std::string outcome;
    TaskScope scope;
    auto deferred = std::make_unique<Deferred<std::string>>();
    scope.spawn(await_deferred(deferred->get(), &outcome));
    scope.spawn(resolve_and_forget(&deferred));
    CHECK(outcome == "kept");
}

TEST_CASE("a deferred value that goes away unsettled cancels its awaiter") {
    std::string outcome;
    TaskScope scope;
    auto deferred = std::make_unique<Deferred<std::string>>();
    scope.spawn(await_deferred(deferred->get(), &outcome));
    deferred.reset();
    CHECK(outcome == "cancelled");
}
