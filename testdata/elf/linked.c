// SPDX-License-Identifier: Apache-2.0
extern int alpha(int);
extern int beta(int);
extern int gamma_(int);
int (*volatile keep)(int) = gamma_;
__attribute__((noinline)) static int local(int x) {
  return alpha(x) + 1;
}
int work(int x) {
  return local(x) + beta(x) * gamma_(x);
}
