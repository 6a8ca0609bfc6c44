// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/deliveries.h"

#include <gmock/gmock.h>

#include <ostream>

#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {

// For GoogleMock's output and comparisons.
bool operator==(const Delivery& a, const Delivery& b) {
  return a.event == b.event && a.period == b.period;
}
void PrintTo(const Delivery& delivery, std::ostream* out) {
  *out << (delivery.event == nullptr ? "no event" : delivery.event->name) << " " << delivery.period;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EventTable OneEvent(const EventAttr& attr) {
  EventTable events;
  events.Add({.attr = attr, .format = FormatOf(attr), .ids = {101}, .name = "cycles"});
  return events;
}

std::vector<Delivery> Of(Deliveries& deliveries, std::vector<std::uint64_t> read,
                         const Event& event) {
  Sample sample;
  sample.read = WordArray(read);
  const auto found = deliveries.Of(sample, event);
  return {found.begin(), found.end()};
}

TEST(Deliveries, UseThePeriodOfTheSample) {
  const EventTable events = OneEvent({.sample_period = 4000, .sample_type = kIp | kPeriod});
  Deliveries deliveries(events);
  EXPECT_THAT(deliveries.Of(Sample{.period = 7}, events[0]), ElementsAre(Delivery{&events[0], 7}));
}

TEST(Deliveries, UseTheAttributesPeriodOtherwise) {
  const EventTable events = OneEvent({.sample_period = 4000, .sample_type = kIp});
  Deliveries deliveries(events);
  EXPECT_THAT(deliveries.Of(Sample{}, events[0]), ElementsAre(Delivery{&events[0], 4000}));
}

TEST(Deliveries, UseTheIncreaseOfAReadCounter) {
  const EventTable events = OneEvent(
      {.sample_type = kIp | kPeriod | kRead, .read_format = kReadId | kReadTotalTimeEnabled});
  Deliveries deliveries(events);
  // { value, time_enabled, id }
  EXPECT_THAT(Of(deliveries, {500, 1, 101}, events[0]), ElementsAre(Delivery{&events[0], 500}));
  EXPECT_THAT(Of(deliveries, {520, 2, 101}, events[0]), ElementsAre(Delivery{&events[0], 20}));
}

class GroupDeliveries : public testing::Test {
 protected:
  GroupDeliveries() {
    const EventAttr attr{.sample_type = kIp | kId | kRead,
                         .read_format = kReadId | kReadGroup | kReadLost};
    for (const std::uint64_t id : {101, 102}) {
      events_.Add({.attr = attr, .format = FormatOf(attr), .ids = {id}, .name = "e"});
    }
  }
  EventTable events_;
  Deliveries deliveries_{events_};
};

TEST_F(GroupDeliveries, GoToEachMemberThatGrew) {
  // { nr, { value, id, lost }[nr] }
  EXPECT_THAT(Of(deliveries_, {2, 10, 101, 0, 3, 102, 0}, events_[0]),
              ElementsAre(Delivery{&events_[0], 10}, Delivery{&events_[1], 3}));
  EXPECT_THAT(Of(deliveries_, {2, 15, 101, 0, 3, 102, 0}, events_[0]),
              ElementsAre(Delivery{&events_[0], 5}));
}

TEST_F(GroupDeliveries, SkipCountersOfUnknownEvents) {
  EXPECT_THAT(Of(deliveries_, {2, 10, 999, 0, 3, 0, 0}, events_[0]), IsEmpty());
}

TEST_F(GroupDeliveries, SurviveABlockThatIsCutOff) {
  EXPECT_THAT(Of(deliveries_, {}, events_[0]), IsEmpty());
  EXPECT_THAT(Of(deliveries_, {2, 10, 101}, events_[0]), IsEmpty());
}

}  // namespace
}  // namespace perftape::perfdata
