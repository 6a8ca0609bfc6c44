// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/readable_names.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::symbolize {
namespace {

using convert::ProfileMaker;
using testing::UnorderedElementsAre;

std::vector<std::string> NamesOf(const convert::Profile& profile) {
  std::vector<std::string> names;
  for (const convert::Function& function : profile.functions()) {
    names.push_back(std::string(profile.text(function.name)) + "|" +
                    std::string(profile.text(function.system_name)));
  }
  return names;
}

convert::Profile Example() {
  ProfileMaker made;
  const convert::EventId event = made.Counts("cycles");
  made.Counts("faults");
  made.Hit(made.Calls({"_ZN4shop4Cart5totalEi", "_ZSt9terminatev@plt", "plain",
                       "Lcom/shop/Cart;total(I)V"}),
           made.Runs("app"), event, 1, 100);
  return made.Make();
}

TEST(DemangleNames, KeepsTheLinkersNameAsSystemName) {
  const convert::Profile shown = DemangleNames(Example(), demangle::Demangling::kTemplates);
  EXPECT_THAT(NamesOf(shown),
              UnorderedElementsAre("shop::Cart::total|_ZN4shop4Cart5totalEi",
                                   "std::terminate@plt|_ZSt9terminatev@plt", "plain|",
                                   "com.shop.Cart.total(int)|Lcom/shop/Cart;total(I)V"));
  EXPECT_EQ(shown.samples().size(), 1U);
  EXPECT_EQ(shown.events().size(), 2U);
  // What was demangled stays.
  EXPECT_EQ(NamesOf(DemangleNames(shown, demangle::Demangling::kFull)), NamesOf(shown));
}

TEST(DemangleNames, ChangesNothingWithoutDemangling) {
  EXPECT_EQ(NamesOf(DemangleNames(Example(), demangle::Demangling::kNone)), NamesOf(Example()));
}

}  // namespace
}  // namespace perftape::symbolize
