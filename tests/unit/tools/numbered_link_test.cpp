// Two sides of a NumberedLink over a carrier that loses, repeats and reorders by a seed.

#include "tools/numbered_link.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using cellgate::tools::CarriedMessage;
using cellgate::tools::NumberedLink;

namespace {

constexpr int message_count = 200; // of each side

struct Carrier {
    explicit Carrier(unsigned seed) : random(seed) {}

    void carry(std::vector<CarriedMessage>& way, CarriedMessage message) {
        const unsigned fate = random() % 10;
        if (fate < 3 && lossy) {
            return;
        }
        way.push_back(message);
        if (fate < 6 && lossy) {
            way.insert(way.begin() + static_cast<std::ptrdiff_t>(random() % way.size()), message);
        }
    }

    std::mt19937 random;
    bool lossy = true;
    std::vector<CarriedMessage> to_left;
    std::vector<CarriedMessage> to_right;
};

void hand_over(std::vector<CarriedMessage>& way, NumberedLink& side) {
    std::vector<CarriedMessage> now;
    now.swap(way);
    for (CarriedMessage& message : now) {
        side.receive(std::move(message));
    }
}

CarriedMessage numbered(int number) {
    CarriedMessage message;
    message.stream = 1;
    message.bytes = std::to_string(number);
    return message;
}

std::vector<std::string> expected() {
    std::vector<std::string> all;
    for (int i = 0; i < message_count; ++i) {
        all.push_back(std::to_string(i));
    }
    return all;
}

} // namespace

TEST_CASE("each message arrives once and in order over a carrier that loses, repeats and reorders") {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        Carrier carrier(seed);
        std::vector<std::string> at_left;
        std::vector<std::string> at_right;
        NumberedLink left([&](CarriedMessage message) { carrier.carry(carrier.to_right, std::move(message)); },
                          [&](const CarriedMessage& message) { at_left.push_back(*message.bytes); });
        NumberedLink right([&](CarriedMessage message) { carrier.carry(carrier.to_left, std::move(message)); },
                           [&](const CarriedMessage& message) { at_right.push_back(*message.bytes); });
        for (int i = 0; i < message_count; ++i) {
            left.post(numbered(i));
            right.post(numbered(i));
            if (i % 7 == 0) {
                hand_over(carrier.to_right, right);
                hand_over(carrier.to_left, left);
            }
        }
        CHECK(at_right.size() < message_count); // the carrier does lose
        int rounds = 0;
        while (left.unacknowledged() + right.unacknowledged() > 0 && ++rounds < 10'000) {
            left.repeat();
            right.repeat();
            hand_over(carrier.to_right, right);
            hand_over(carrier.to_left, left);
        }
        CHECK(at_left == expected());
        CHECK(at_right == expected());
    }
}

TEST_CASE("an acknowledgement of what was never sent, and a number that is far ahead, change nothing") {
    std::vector<CarriedMessage> sent;
    std::vector<CarriedMessage> delivered;
    NumberedLink link([&](CarriedMessage message) { sent.push_back(std::move(message)); },
                      [&](CarriedMessage message) { delivered.push_back(std::move(message)); });
    link.post(numbered(1));
    CarriedMessage hostile;
    hostile.ack = 1'000'000;
    hostile.seq = 1'000'000;
    link.receive(hostile);
    CHECK(link.unacknowledged() == 1);
    CHECK(delivered.empty());
    hostile.ack = -5;
    hostile.seq = 1;
    link.receive(hostile);
    CHECK(link.unacknowledged() == 1);
    CHECK(delivered.size() == 1);
}

TEST_CASE("the other side is asked to send again, with what has arrived, and nothing is sent again here") {
    std::vector<CarriedMessage> sent;
    NumberedLink link([&](CarriedMessage message) { sent.push_back(std::move(message)); }, [](auto) {});
    link.post(numbered(0));
    CarriedMessage first = numbered(0);
    first.seq = 1;
    link.receive(first);
    sent.clear();
    link.ask_again();
    REQUIRE(sent.size() == 1);
    CHECK(sent.front().again == true);
    CHECK(sent.front().ack == 1);
    CHECK(!sent.front().seq);
}
