// Launchers without a header of torch: pointers and a stream, from ctypes.
#include "entries.h"

__device__ float sum_of_block(float number, float* shared) {
  for (int width = 16; width; width /= 2) number += __shfl_down_sync(~0u, number, width);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = number;
  __syncthreads();
  float sum = 0.0f;
  // In order, so that it is the same each time.
  if (threadIdx.x == 0)
    for (int warp = 0; warp < kThreads / 32; ++warp) sum += shared[warp];
  __syncthreads();
  return sum;
}

template <class Value, class Grad>
__global__ void __launch_bounds__(kThreads) step_kernel(Launch launch) {
  __shared__ float shared[kThreads / 32];
  const int64_t chunk = blockIdx.x;
  const Squares squares = step_thread<Value, Grad>(launch, chunk, threadIdx.x);
  const float grad = sum_of_block(squares.grad, shared);
  const float value = sum_of_block(squares.value, shared);
  if (threadIdx.x == 0) {
    launch.squares[2 * chunk] = grad;
    launch.squares[2 * chunk + 1] = value;
  }
}

template <class Value, class Grad>
int launch_step(const Launch& launch, void* stream) {
  if (launch.num_chunks)
    step_kernel<Value, Grad>
        <<<unsigned(launch.num_chunks), kThreads, 0, cudaStream_t(stream)>>>(launch);
  return int(cudaGetLastError());
}

extern "C" int step_float32(Launch launch, void* stream) {
  return launch_step<float, float>(launch, stream);
}
extern "C" int step_float32_from_bfloat16(Launch launch, void* stream) {
  return launch_step<float, BFloat16>(launch, stream);
}
extern "C" int step_bfloat16(Launch launch, void* stream) {
  return launch_step<BFloat16, BFloat16>(launch, stream);
}
