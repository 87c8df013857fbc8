// Launchers without a header of torch: pointers and a stream, from ctypes.
#include "thread.h"

constexpr int kWarps = 4;  // A tile each.

BOTH int64_t num_tiles(const Pass& pass) { return (pass.num_entries + kTile - 1) / kTile; }

__global__ void __launch_bounds__(kWarps * kThreads) combine_kernel(Pass pass) {
  const int64_t tile = int64_t(blockIdx.x) * kWarps + threadIdx.x / kThreads;
  if (tile < num_tiles(pass)) combine(pass, tile, threadIdx.x % kThreads);
}

__global__ void __launch_bounds__(kWarps * kThreads) project_kernel(Pass pass) {
  const int64_t tile = int64_t(blockIdx.x) * kWarps + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  if (tile >= num_tiles(pass)) return;
  Pack<float, 4> x[32];
  read_x(pass, tile, thread, x);
  for (int64_t i = 0; i < pass.num_directions; ++i) {
    float sum = along(pass, tile, thread, i, x);
    for (int width = 16; width; width /= 2) sum += __shfl_down_sync(~0u, sum, width);
    if (thread == 0) pass.out[i * num_tiles(pass) + tile] = sum;
  }
}

template <class Kernel>
int launch(Kernel kernel, const Pass& pass, void* stream) {
  const int64_t blocks = (num_tiles(pass) + kWarps - 1) / kWarps;
  if (blocks) kernel<<<unsigned(blocks), kWarps * kThreads, 0, cudaStream_t(stream)>>>(pass);
  return int(cudaGetLastError());
}

extern "C" int launch_combine(Pass pass, void* stream) {
  return launch(combine_kernel, pass, stream);
}
extern "C" int launch_project(Pass pass, void* stream) {
  return launch(project_kernel, pass, stream);
}
