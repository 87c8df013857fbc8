// The same arithmetic compiled by a host's compiler: what tests run where there is no GPU.
#include "entries.h"

template <class Value, class Grad>
void step(const Row* rows, const float* rates, int64_t num_rows, const Settings& with,
          Squares* squares) {
  for (int64_t number = 0; number < num_rows; ++number) {
    squares[number] = {0.0f, 0.0f};
    for (int64_t at = 0; at < rows[number].size; at += kEntries) {
      const Squares some = step_entries<Value, Grad>(rows[number], at, rates[2 * number],
                                                     rates[2 * number + 1], with);
      squares[number].grad += some.grad;
      squares[number].value += some.value;
    }
  }
}

extern "C" void step_float32(const Row* rows, const float* rates, int64_t num_rows,
                             Settings with, Squares* squares) {
  step<float, float>(rows, rates, num_rows, with, squares);
}
extern "C" void step_bfloat16(const Row* rows, const float* rates, int64_t num_rows,
                              Settings with, Squares* squares) {
  step<BFloat16, BFloat16>(rows, rates, num_rows, with, squares);
}
