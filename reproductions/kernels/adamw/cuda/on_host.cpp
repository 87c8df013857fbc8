// The same arithmetic compiled by a host's compiler: what tests run where there is no GPU.
#include "entries.h"

template <class Value, class Grad>
int launch_step(const Launch& launch) {
  for (int64_t chunk = 0; chunk < launch.num_chunks; ++chunk) {
    Squares sum = {0.0f, 0.0f};
    for (int thread = 0; thread < kThreads; ++thread) {
      const Squares some = step_thread<Value, Grad>(launch, chunk, thread);
      sum.grad += some.grad;
      sum.value += some.value;
    }
    launch.squares[2 * chunk] = sum.grad;
    launch.squares[2 * chunk + 1] = sum.value;
  }
  return 0;
}

extern "C" int step_float32(Launch launch, void*) { return launch_step<float, float>(launch); }
extern "C" int step_float32_from_bfloat16(Launch launch, void*) {
  return launch_step<float, BFloat16>(launch);
}
extern "C" int step_bfloat16(Launch launch, void*) {
  return launch_step<BFloat16, BFloat16>(launch);
}
